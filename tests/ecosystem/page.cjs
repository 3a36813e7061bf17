// Opens a page in Chromium without a network, light and dark, narrow, wide and printed, and prints as JSON what axe finds
// there, what the page requested, and whether it is wider than its window. A folder, if named, takes a picture of each.
//
// node page.cjs PAGE [FOLDER]

const path = require("path");
const { pathToFileURL } = require("url");
const { axe, launch } = require("./chromium.cjs");

async function look(browser, page, scheme, width, media, folder) {
  // The page forbids scripts; those of the check run beside it.
  const context = await browser.newContext({
    bypassCSP: true,
    colorScheme: scheme,
    offline: true,
    viewport: { width, height: 900 },
  });
  const tab = await context.newPage();
  await tab.emulateMedia({ colorScheme: scheme, media });
  const requests = [];
  tab.on("request", (request) => requests.push(request.url()));
  await tab.goto(pathToFileURL(path.resolve(page)).href);
  const overflow = await tab.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  await tab.evaluate(axe);
  const found = await tab.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  if (folder) {
    await tab.screenshot({ path: path.join(folder, `${media}-${scheme}-${width}.png`), fullPage: true });
  }
  await context.close();
  const violations = found.violations.map((rule) => ({
    rule: rule.id,
    help: rule.help,
    nodes: rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)),
  }));
  return { scheme, width, media, requests: requests.slice(1), overflow, passes: found.passes.length, violations };
}

async function main() {
  const [page, folder] = process.argv.slice(2);
  const browser = await launch();
  const seen = [];
  for (const scheme of ["light", "dark"]) {
    for (const width of [400, 1200]) {
      seen.push(await look(browser, page, scheme, width, "screen", folder));
    }
  }
  seen.push(await look(browser, page, "light", 800, "print", folder));
  await browser.close();
  console.log(JSON.stringify(seen, null, 2));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
