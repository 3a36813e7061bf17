// Asks the service, part by part, and shows what it answers. A new question ends the one before.

import { actionInBrief, announcement, answerBody, inBrief, obstaclesOf } from "./answer";
import { attackBody } from "./attack";
import { curve } from "./curve";
import { html, show } from "./dom";
import { failureBox, partFailed } from "./failure";
import { graph } from "./graph";
import { letterBody } from "./letter";
import { MOST_OPTIONS, optionsBody } from "./options";
import { allowedFor, isAsTheProblem, proofBody } from "./proof";
import { Section } from "./section";
import type { Answer, Problem, Question, Service, TradeOff, Values } from "./service";
import { ServiceError } from "./service";
import { effort, effortAtLeast, type Speech } from "./words";

/** A question, whom it is about, and the name for the letter. */
export interface Asked {
  question: Question;
  values: Values;
  id: string;
}

/** What the results ask of the page around them. */
export interface Surroundings {
  chooseEpsilon(epsilon: number): void;
  askToken(wasRefused: boolean): void;
}

/** The pause after a change before the service is asked, in milliseconds. */
const PAUSE = 250;
/** How many ways a letter names. */
const MOST_LETTER_OPTIONS = 2;

export class Results {
  readonly element: HTMLElement;
  /** A link to the answer, for the foot of a small screen. */
  readonly brief = html("a", { class: "brief", href: "#answer-title", hidden: true });
  private readonly announcer = html("p", { class: "unseen", role: "status" });
  private readonly progress = html("div", { class: "progress" });
  private readonly answer: Section;
  private readonly graph: Section;
  private readonly options: Section;
  private readonly curve: Section;
  private readonly attack: Section;
  private readonly proof: Section;
  private readonly letter: Section;
  /** Places in the answer and the proof for what only the letter says. */
  private readonly obstacles = html("div");
  private readonly allowed = html("div");
  private controller = new AbortController();
  private timer = 0;
  private last: { asked: Asked; answer: Answer } | undefined;
  private tradeOff: { key: string; found: TradeOff } | undefined;
  private readonly letterName: HTMLInputElement;
  private letterController = new AbortController();

  constructor(
    private readonly service: Service,
    private readonly problem: Problem,
    private readonly said: Speech,
    private readonly around: Surroundings,
  ) {
    const { strings } = said;
    this.answer = new Section("answer", strings.answer);
    this.graph = new Section("graph", strings.graph);
    this.options = new Section("options", strings.options);
    this.curve = new Section("curve", strings.curve);
    this.attack = new Section("attack", strings.attack);
    this.proof = new Section("proof", strings.proof);
    this.letterName = html("input", { type: "text", autocomplete: "off", maxlength: 200, input: () => this.renameLetter() });
    this.letter = new Section(
      "letter",
      strings.letter,
      html("p", { class: "quiet" }, strings.letterIntro),
      html("p", {}, html("label", { class: "letter-name" }, strings.letterFor, " ", this.letterName)),
    );
    this.answer.element.hidden = false;
    this.answer.body.before(this.progress);
    this.element = html("div", { class: "results" }, this.announcer, ...this.sections().map((section) => section.element));
    service.onWait = (seconds) => this.showProgress(strings.waiting(seconds));
  }

  private sections(): Section[] {
    return [this.answer, this.graph, this.options, this.curve, this.attack, this.proof, this.letter];
  }

  /** Asks after a short pause, in which another change may come. */
  ask(asked: Asked): void {
    this.stop();
    this.sections().forEach((section) => section.setBusy(true));
    this.timer = window.setTimeout(() => void this.run(asked), PAUSE);
  }

  /** What is filled in cannot be asked. */
  refuse(text: string): void {
    this.stop();
    this.showProgress(text);
    this.brief.hidden = true;
    this.sections().forEach((section) => section !== this.answer && section.hide());
    show(this.answer.body);
    this.answer.setBusy(false);
  }

  /** Ends whatever is under way. */
  stop(): void {
    window.clearTimeout(this.timer);
    this.controller.abort();
    this.letterController.abort();
  }

  /** Draws anew what depends on the width of the window. */
  resize(): void {
    const { last, curve } = this;
    if (!last) return;
    this.drawGraph(last.asked.values, last.answer);
    if (this.tradeOff && curve.element.getAttribute("aria-busy") !== "true" && !curve.element.hidden) {
      curve.show(this.drawCurve(this.tradeOff.found, last.asked, last.answer));
    }
  }

  private showProgress(...lines: string[]): void {
    show(this.progress, ...lines.filter(Boolean).map((line) => html("p", {}, line)));
  }

  private async run(asked: Asked): Promise<void> {
    const controller = new AbortController();
    this.controller = controller;
    const { signal } = controller;
    try {
      const answer = await this.search(asked, signal);
      if (signal.aborted) return;
      this.last = { asked, answer };
      this.showAnswer(asked, answer);
      this.announcer.textContent = announcement(answer, this.said);
      show(this.brief, `${inBrief(answer, this.said)} ↓`);
      this.brief.hidden = false;
      await this.others(asked, answer, signal);
    } catch (error) {
      if (!signal.aborted) this.fail(error, asked);
    }
  }

  /** The answer; better ones are shown as they are found. */
  private async search(asked: Asked, signal: AbortSignal): Promise<Answer> {
    const { strings, language } = this.said;
    const lines = { best: "", action: "", bound: "" };
    const update = () => {
      if (!signal.aborted) this.showProgress(strings.searching, lines.best, lines.action, lines.bound);
    };
    // Answers that come at once need no word of it.
    const soon = window.setTimeout(update, 400);
    try {
      return await this.service.recourse(
        asked.question,
        asked.id,
        asked.values,
        {
          incumbent: ({ cost, action }) => {
            lines.best = strings.best(effort(cost, language));
            lines.action = actionInBrief(this.problem, action, this.said);
            update();
          },
          proof: ({ cost, action }) => {
            lines.best = strings.bestProven(effort(cost, language));
            lines.action = actionInBrief(this.problem, action, this.said);
            update();
          },
          bound: (bound) => {
            lines.bound = bound > 0 ? strings.atLeast(effortAtLeast(bound, language)) : "";
            update();
          },
        },
        signal,
      );
    } finally {
      window.clearTimeout(soon);
      if (!signal.aborted) show(this.progress);
    }
  }

  private showAnswer(asked: Asked, answer: Answer): void {
    const { problem, said } = this;
    const isOwn = !isAsTheProblem(problem, asked.question);
    show(this.obstacles);
    show(this.allowed);
    this.answer.show(...answerBody(problem, asked.values, answer, this.obstacles, isOwn, said));
    this.proof.show(proofBody(problem, asked.question, answer, this.allowed, this.service, said));
    this.drawGraph(asked.values, answer);
  }

  private drawGraph(values: Values, answer: Answer): void {
    const width = this.graph.body.clientWidth || this.answer.body.clientWidth;
    this.graph.show(graph(this.problem, values, answer.options[0], width, this.said));
    // A graph that is scrolled begins with what the person changes.
    const acted = this.graph.body.querySelector(".node.acted rect")?.getAttribute("x");
    const window = this.graph.body.querySelector(".scroll");
    if (acted && window) window.scrollLeft = Number(acted) - window.clientWidth / 3;
  }

  /** The parts that come after the answer, one after the other. */
  private async others(asked: Asked, answer: Answer, signal: AbortSignal): Promise<void> {
    if (answer.options.length === 0) [this.options, this.attack].forEach((section) => section.hide());
    if (answer.status === "favourable") this.curve.hide();
    if (document.activeElement !== this.letterName) this.letterName.value = asked.id;
    await this.part(this.letter, signal, () => this.writeLetter(asked, signal));
    if (answer.options.length > 0) {
      await this.part(this.attack, signal, () => this.findAttack(asked, answer, signal));
      await this.part(this.options, signal, () => this.findOptions(asked, signal));
    }
    if (answer.status !== "favourable") await this.part(this.curve, signal, () => this.findCurve(asked, answer, signal));
  }

  /** Shows a part, or that it could not be had; the page goes on either way. */
  private async part(section: Section, signal: AbortSignal, find: () => Promise<HTMLElement>): Promise<void> {
    section.element.hidden = false;
    section.setBusy(true);
    if (!section.body.hasChildNodes()) show(section.body, html("p", { class: "quiet" }, this.said.strings.searching));
    try {
      const found = await find();
      if (!signal.aborted) section.show(found);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ServiceError && error.status === 401) throw error;
      section.show(partFailed(error, this.said.strings, () => void this.part(section, signal, find)));
    }
    if (!signal.aborted) show(this.progress);
  }

  private async findAttack(asked: Asked, answer: Answer, signal: AbortSignal): Promise<HTMLElement> {
    const { epsilon } = asked.question;
    const [option] = answer.options;
    if (epsilon === 0 || !option) return html("p", {}, this.said.strings.attackSame);
    const found = await this.service.attack(asked.question, asked.values, option.action, signal);
    return attackBody(this.problem, answer, found, epsilon, this.said);
  }

  private async findOptions(asked: Asked, signal: AbortSignal): Promise<HTMLElement> {
    const found = await this.service.options(asked.question, asked.values, MOST_OPTIONS, signal);
    return optionsBody(this.problem, asked.values, found, this.said);
  }

  /** The curve does not depend on the present size of the uncertainty: it is asked for once for each person. */
  private async findCurve(asked: Asked, answer: Answer, signal: AbortSignal): Promise<HTMLElement> {
    const { epsilon: _, ...rest } = asked.question;
    const key = JSON.stringify([rest, asked.values]);
    if (this.tradeOff?.key !== key) {
      this.tradeOff = { key, found: await this.service.tradeOff(asked.question, asked.values, signal) };
    }
    return this.drawCurve(this.tradeOff.found, asked, answer);
  }

  private drawCurve(found: TradeOff, asked: Asked, answer: Answer): HTMLElement {
    const now = { epsilon: asked.question.epsilon, cost: answer.options[0]?.cost ?? null };
    const choose = (epsilon: number) => this.around.chooseEpsilon(epsilon);
    return curve(found, now, choose, this.answer.body.clientWidth, this.said);
  }

  /** Writes the letter, and adds what only it says to the answer and the proof. */
  private async writeLetter(asked: Asked, signal: AbortSignal): Promise<HTMLElement> {
    const name = this.letterName.value.trim() || asked.id;
    const letter = await this.service.letter(asked.question, name, asked.values, MOST_LETTER_OPTIONS, signal);
    if (!signal.aborted) {
      show(this.obstacles, ...obstaclesOf(letter, this.said));
      show(this.allowed, ...allowedFor(letter, this.said));
    }
    return letterBody(letter, name, this.said);
  }

  /** Another name needs another letter: its reference depends on the name. */
  private renameLetter(): void {
    this.letterController.abort();
    const controller = new AbortController();
    this.letterController = controller;
    const { last } = this;
    window.setTimeout(() => {
      const { signal } = controller;
      if (!signal.aborted && last) void this.part(this.letter, signal, () => this.writeLetter(last.asked, signal));
    }, 2 * PAUSE);
  }

  private fail(error: unknown, asked: Asked): void {
    show(this.progress);
    this.brief.hidden = true;
    this.sections().forEach((section) => section !== this.answer && section.hide());
    if (error instanceof ServiceError && error.status === 401) {
      show(this.answer.body);
      this.answer.setBusy(false);
      this.around.askToken(this.service.token !== "");
      return;
    }
    this.answer.show(failureBox(error, this.said.strings, () => this.ask(asked)));
  }
}
