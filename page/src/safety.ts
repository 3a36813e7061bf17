// The slider of safety: how large the shifts are that an answer withstands.

import { sliderNumber } from "./curve";
import { html } from "./dom";
import { significant } from "./numbers";
import type { Speech } from "./words";

/** Positions of the slider. */
const STEPS = 100;

/** The end of the slider: five times the size of the problem, in round numbers. */
export function sliderEnd(epsilon: number): number {
  if (!(epsilon > 0)) return 0.5;
  const wanted = 5 * epsilon;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= wanted * (1 - 1e-9)) ?? 10;
  return Number((factor * power).toPrecision(6));
}

export class Safety {
  readonly element: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly output = html("output", { for: "safety-slider" });
  private readonly note = html("p", { class: "quiet" });
  private readonly step: number;

  constructor(
    private readonly ofProblem: number,
    private epsilon: number,
    private readonly said: Speech,
    private readonly onChange: (epsilon: number) => void,
  ) {
    const { strings, language } = said;
    const end = sliderEnd(ofProblem);
    this.step = end / STEPS;
    this.slider = html("input", {
      id: "safety-slider",
      type: "range",
      min: 0,
      max: end,
      step: this.step,
      value: epsilon,
      input: () => {
        this.epsilon = Number(Number(this.slider.value).toPrecision(12));
        this.describe();
        this.onChange(this.epsilon);
      },
    });
    const back = strings.safetyReset(significant(ofProblem, 3, language));
    this.element = html(
      "section",
      { class: "safety", "aria-labelledby": "safety-title" },
      html("h2", { id: "safety-title" }, strings.safety),
      html("label", { for: "safety-slider" }, strings.safetyLabel),
      html("div", { class: "slider" }, this.slider, this.output),
      this.note,
      html("p", {}, html("button", { type: "button", class: "small", click: () => this.choose(this.ofProblem) }, back)),
    );
    this.describe();
  }

  /** Takes a size that was chosen elsewhere. */
  choose(epsilon: number): void {
    this.epsilon = epsilon;
    if (epsilon > Number(this.slider.max)) this.slider.max = String(sliderEnd(epsilon / 5));
    this.slider.value = String(epsilon);
    this.describe();
    this.onChange(epsilon);
  }

  private describe(): void {
    const { strings, language } = this.said;
    const isOnStep = Math.abs(this.epsilon / this.step - Math.round(this.epsilon / this.step)) < 1e-6;
    const number = isOnStep ? sliderNumber(this.epsilon, this.step, language) : significant(this.epsilon, 3, language);
    this.output.textContent = number;
    this.slider.setAttribute("aria-valuetext", strings.safetyUnit(number));
    this.note.textContent = this.epsilon > 0 ? strings.safetyIntro : strings.safetyNone;
  }
}
