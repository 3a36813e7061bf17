// Builds the page: src/main.ts and what it imports become one script; style, icon and document are copied.
//
// node build.mjs [FOLDER]     into FOLDER; without one, into the command's sources, which are committed

import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, "../crates/surefoot-cli/src/serve/page");

mkdirSync(folder, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  outfile: join(folder, "page.js"),
  bundle: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  // Without spaces but with names and lines, so that a fault in a browser is found and changes can be compared.
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: "none",
  banner: { js: "// Built from page/src by `npm run build`; edit the sources there." },
});
for (const name of ["index.html", "page.css", "icon.svg"]) {
  copyFileSync(join(here, "src", name), join(folder, name));
}
