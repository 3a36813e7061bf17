// What the page remembers on this device: the language and the colours, and nothing about people.

import { type LanguageCode } from "./numbers";
import { preferred } from "./strings";

export type Theme = "auto" | "light" | "dark";
export const THEMES: Theme[] = ["auto", "light", "dark"];

/** Devices may forbid to remember anything; then everything works until the page is closed. */
function remembered(name: string): string | null {
  try {
    return localStorage.getItem(`surefoot-${name}`);
  } catch {
    return null;
  }
}

function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`surefoot-${name}`, value);
  } catch {
    // Nothing is lost but the choice at the next visit.
  }
}

export function language(): LanguageCode {
  const known = remembered("language");
  return known === "en" || known === "de" ? known : preferred(navigator.languages);
}

export function rememberLanguage(code: LanguageCode): void {
  remember("language", code);
}

export function theme(): Theme {
  const known = remembered("theme");
  return THEMES.find((theme) => theme === known) ?? "auto";
}

/** Shows the colours and remembers them. */
export function setTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
  remember("theme", theme);
}
