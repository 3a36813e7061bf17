// The whole page: head, person, safety and results, drawn anew for another problem or language.

import { type Draft, draftOf, translate } from "./draft";
import { html, show } from "./dom";
import { failureBox } from "./failure";
import { Form } from "./form";
import type { LanguageCode } from "./numbers";
import { type Chosen, People } from "./people";
import { Results } from "./results";
import { Safety } from "./safety";
import { type Listed, type Problem, Service, ServiceError } from "./service";
import { language, rememberLanguage, setTheme, type Theme, theme, THEMES } from "./settings";
import { LANGUAGES } from "./strings";
import { capitalised, speech } from "./words";

/** A problem, and what has been filled in for it. */
interface Asked {
  problem: Problem;
  draft: Draft;
  epsilon: number;
  chosen: Chosen;
}

export class App {
  private readonly service = new Service();
  private language: LanguageCode = language();
  private theme: Theme = theme();
  private listed: Listed[] = [];
  private asked: Asked | undefined;
  private results: Results | undefined;
  private form: Form | undefined;

  constructor(private readonly body: HTMLElement) {
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      // Phones report a resize whenever their address bar comes and goes.
      if (window.innerWidth !== width) this.results?.resize();
      width = window.innerWidth;
    });
  }

  start(): void {
    setTheme(this.theme);
    this.frame();
    void this.load();
  }

  private get strings() {
    return LANGUAGES[this.language];
  }

  /** Asks which problems there are, and opens the first. */
  private async load(name?: string): Promise<void> {
    try {
      this.listed = await this.service.problems();
      const first = name ?? this.listed.find(({ digest }) => digest !== null)?.name;
      if (first === undefined) {
        const mistakes = this.listed.flatMap(({ name, mistake }) => (mistake ? [`${name}: ${mistake}`] : []));
        throw new ServiceError(404, "unknown-problem", this.strings.noProblem, mistakes.join(" "), 0, "");
      }
      const problem = await this.service.problem(first);
      const draft = draftOf(problem, problem.example, this.language);
      this.asked = { problem, draft, epsilon: problem.epsilon, chosen: { opened: undefined, id: "1" } };
      this.draw();
    } catch (error) {
      if (error instanceof ServiceError && error.status === 401) this.askToken(this.service.token !== "", () => void this.load(name));
      else this.frame(failureBox(error, this.strings, () => void this.load(name)));
    }
  }

  /** The page with the head and something in its middle. */
  private frame(...content: HTMLElement[]): void {
    document.documentElement.lang = this.language;
    document.title = `${this.strings.title} – Surefoot`;
    show(
      this.body,
      html("a", { class: "skip", href: "#answer-title" }, this.strings.skip),
      this.head(),
      html("main", {}, ...content),
      this.results?.brief,
    );
  }

  private head(): HTMLElement {
    const { strings } = this;
    const languages = (Object.keys(LANGUAGES) as LanguageCode[]).map((code) =>
      html(
        "button",
        { type: "button", lang: code, "data-language": code, "aria-pressed": String(code === this.language), click: () => this.speak(code) },
        LANGUAGES[code].name,
      ),
    );
    const themes = html(
      "select",
      { change: () => setTheme((this.theme = THEMES[themes.selectedIndex] ?? "auto")) },
      ...THEMES.map((name) => html("option", { selected: name === this.theme }, strings.themes[name])),
    );
    return html(
      "header",
      { class: "head" },
      html("div", { class: "name" }, html("h1", {}, strings.title), html("p", { class: "quiet" }, "Surefoot")),
      html(
        "div",
        { class: "switches" },
        this.problems(),
        html("label", {}, html("span", {}, strings.theme), themes),
        html("div", { class: "languages", role: "group", "aria-label": strings.language }, ...languages),
      ),
    );
  }

  /** The choice of a problem, if there are several. */
  private problems(): HTMLElement | undefined {
    const served = this.listed.filter(({ digest }) => digest !== null);
    if (served.length < 2) return undefined;
    const select = html(
      "select",
      { change: () => void this.load(select.value) },
      ...served.map(({ name }) => html("option", { value: name, selected: name === this.asked?.problem.name }, name)),
    );
    return html("label", {}, html("span", {}, this.strings.problem), select);
  }

  /** Draws everything for the problem and asks the first question. */
  private draw(): void {
    const { asked, strings } = this;
    if (!asked) return;
    const said = speech(this.language);
    this.results?.stop();
    const form = new Form(asked.problem, asked.draft, said, () => this.ask());
    const people = new People(asked.problem, asked.draft, asked.chosen, said, () => {
      form.render();
      this.ask();
    });
    const safety = new Safety(asked.problem.epsilon, asked.epsilon, said, (epsilon) => {
      asked.epsilon = epsilon;
      this.ask();
    });
    this.form = form;
    this.results = new Results(this.service, asked.problem, said, {
      chooseEpsilon: (epsilon) => safety.choose(epsilon),
      askToken: (wasRefused) => this.askToken(wasRefused, () => this.draw()),
    });
    const mistake = this.listed.find(({ name }) => name === asked.problem.name)?.mistake;
    const person = html(
      "section",
      { id: "person", "aria-labelledby": "person-title" },
      html("h2", { id: "person-title" }, strings.person),
      mistake ? html("p", { class: "failure" }, strings.mistake(mistake)) : false,
      people.element,
      form.element,
    );
    this.frame(html("div", { class: "question" }, safety.element, person), this.results.element);
    this.ask();
  }

  private ask(): void {
    const { asked, form, results } = this;
    if (!asked || !form || !results) return;
    const { values, locked, limits, faults } = form.read();
    if (faults.size > 0) {
      const labels = asked.problem.columns.filter(({ name }) => faults.has(name)).map(({ label }) => capitalised(label));
      results.refuse(this.strings.fill(labels.join(", ")));
      return;
    }
    if (asked.problem.columns.every(({ name, actionable }) => !actionable || locked.includes(name))) {
      results.refuse(this.strings.everythingLocked);
      return;
    }
    const question = { problem: asked.problem.name, epsilon: asked.epsilon, locked, limits, language: this.language };
    results.ask({ question, values, id: asked.chosen.id });
  }

  private speak(code: LanguageCode): void {
    if (code === this.language) return;
    if (this.asked) translate(this.asked.problem, this.asked.draft, this.language, code);
    this.language = code;
    rememberLanguage(code);
    if (this.asked) this.draw();
    else {
      this.frame();
      void this.load();
    }
    this.body.querySelector<HTMLElement>(`[data-language="${code}"]`)?.focus();
  }

  /** Asks for the token of the service, and goes on with it. */
  private askToken(wasRefused: boolean, goOn: () => void): void {
    const { strings } = this;
    const input = html("input", { type: "password", id: "token", autocomplete: "off", required: true });
    const form = html(
      "form",
      {
        class: "failure",
        submit: (event) => {
          event.preventDefault();
          this.service.token = input.value.trim();
          goOn();
        },
      },
      html("h2", {}, strings.tokenTitle),
      wasRefused && html("p", { role: "alert" }, strings.tokenWrong),
      html("p", {}, strings.tokenDetail),
      html("p", {}, html("label", { for: "token" }, strings.token, " ", input)),
      html("p", {}, html("button", {}, strings.tokenUse)),
    );
    this.frame(form);
    input.focus();
  }
}
