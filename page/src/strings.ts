// The languages of the page.

import { english, type Strings } from "./english";
import { german } from "./german";
import type { LanguageCode } from "./numbers";

export type { Strings };

export const LANGUAGES: Record<LanguageCode, Strings> = { en: english, de: german };

/** The language that a browser prefers, among those of the page. */
export function preferred(languages: readonly string[]): LanguageCode {
  for (const language of languages) {
    const code = language.slice(0, 2).toLowerCase();
    if (code === "en" || code === "de") return code;
  }
  return "en";
}
