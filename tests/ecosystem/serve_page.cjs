// Uses the page of `surefoot serve` in Chromium as people do, and prints as JSON what it saw.
//
// node serve_page.cjs STORY ADDRESS [FOLDER]

const fs = require("fs");
const path = require("path");
const { axe, launch } = require("./chromium.cjs");

const PARTS = ["answer", "graph", "options", "curve", "attack", "proof", "letter"];

/** A tab that notes what it requests from elsewhere, and what goes wrong in it. */
async function open(browser, address, options = {}) {
  const context = await browser.newContext({
    // Scripts of the check run beside those of the page, which its content policy allows alone.
    bypassCSP: options.bypassCSP ?? false,
    colorScheme: options.scheme ?? "light",
    locale: options.locale ?? "en-GB",
    viewport: { width: options.width ?? 1280, height: 900 },
    acceptDownloads: true,
  });
  const tab = await context.newPage();
  const noted = { elsewhere: [], wrong: [], asked: [] };
  tab.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !/^(blob|data|about):/.test(url)) noted.elsewhere.push(url);
    if (url.includes("/v1/")) noted.asked.push(url.slice(address.length));
  });
  tab.on("pageerror", (error) => noted.wrong.push(String(error)));
  tab.on("console", (message) => {
    if (message.type() === "error") noted.wrong.push(message.text());
  });
  if (options.before) await options.before(tab);
  await tab.goto(address);
  return { tab, noted };
}

/** Waits until the answer and everything after it is there. The content policy forbids Playwright's own way of waiting. */
async function settled(tab) {
  // The pause in which another change may come.
  await tab.waitForTimeout(300);
  const isSettled = () => {
    const sections = [...document.querySelectorAll(".results > section")];
    const answer = document.querySelector("#answer .section-body");
    const isBusy = (section) => !section.hidden && section.getAttribute("aria-busy") !== "false";
    return Boolean(answer?.hasChildNodes()) && !sections.some(isBusy);
  };
  for (let wait = 0; wait < 3000; wait++) {
    if (await tab.evaluate(isSettled)) return;
    await tab.waitForTimeout(100);
  }
  throw new Error(`no answer: ${await tab.locator("body").innerText()}`);
}

const text = async (tab, selector) => (await tab.locator(selector).allInnerTexts()).join("\n");
const texts = (tab, selector) => tab.locator(selector).allInnerTexts();

/** What the page says at the moment. */
async function seen(tab) {
  return {
    badge: await text(tab, "#answer .badge"),
    status: await text(tab, "#answer .status"),
    steps: await texts(tab, "#answer .steps li"),
    consequences: await texts(tab, "#answer .consequences li"),
    effort: await text(tab, "#answer .section-body p.quiet strong"),
    bars: await tab.locator("#answer .bar").count(),
    acted: await tab.locator("#graph .node.acted").count(),
    followed: await tab.locator("#graph .node.followed").count(),
    answer: await text(tab, "#answer .section-body"),
    options: await tab.locator("#options .card").count(),
    points: await tab.locator("#curve .spot").count(),
    attack: await texts(tab, "#attack .verdict"),
    proven: await texts(tab, "#proof .proven li"),
    allowed: await text(tab, "#proof .section-body"),
    shown: await tab.evaluate((parts) => parts.filter((id) => !document.getElementById(id).hidden), PARTS),
    epsilon: await text(tab, ".slider output"),
    announced: await text(tab, ".results > [role=status]"),
  };
}

/** The text of the letter. Scripts are disabled in its frame, so that the page around it has to be asked. */
async function letterText(tab) {
  const read = () => document.querySelector("iframe.letter")?.contentDocument?.querySelector(".letter")?.textContent ?? "";
  for (let wait = 0; wait < 100; wait++) {
    const found = await tab.evaluate(read);
    if (found) return found.replace(/\s+/g, " ");
    await tab.waitForTimeout(50);
  }
  throw new Error("no letter");
}

async function downloaded(tab, button) {
  const [file] = await Promise.all([tab.waitForEvent("download"), tab.locator(button).click()]);
  return { name: file.suggestedFilename(), text: fs.readFileSync(await file.path(), "utf8") };
}

/** The whole story, on the linear example. */
async function story(browser, address, folder) {
  const { tab, noted } = await open(browser, address);
  const found = { noted };
  await settled(tab);
  found.typical = await seen(tab);

  const table = path.join(folder, "people.csv");
  await tab.locator("input[type=file]").setInputFiles(table);
  await settled(tab);
  found.fromTable = await seen(tab);
  found.letter = await letterText(tab);
  found.proof = await downloaded(tab, "#proof .buttons button >> nth=0");
  await tab.locator("#proof .buttons button >> nth=1").click();
  await tab.locator("#proof .verdict.safe, #proof .verdict.broken").waitFor();
  found.verified = await text(tab, "#proof .verdict");
  found.letterFile = await downloaded(tab, "#letter .buttons button >> nth=1");

  await tab.getByLabel("I cannot change this: Income").check();
  await settled(tab);
  found.locked = await seen(tab);
  found.lockedProof = await downloaded(tab, "#proof .buttons button >> nth=0");
  await tab.locator("#proof .buttons button >> nth=1").click();
  await tab.locator("#proof .verdict.safe, #proof .verdict.broken").waitFor();
  found.lockedVerified = await text(tab, "#proof .verdict");
  await tab.getByLabel("I cannot change this: Savings").check();
  await tab.getByLabel("I cannot change this: Education").check();
  await tab.locator("#answer .progress p").waitFor();
  found.allLocked = await text(tab, "#answer .progress");
  // With little that may change there is no action.
  await tab.getByLabel("I cannot change this: Income").uncheck();
  await tab.getByLabel("My limits for Income").click();
  await tab.getByLabel("Income: at most").fill("2,500");
  await settled(tab);
  found.impossible = await seen(tab);
  found.impossibleLetter = await letterText(tab);
  await tab.getByLabel("Income: at most").fill("");
  for (const label of ["Income", "Savings", "Education"]) await tab.getByLabel(`I cannot change this: ${label}`).uncheck();
  await settled(tab);
  found.unlocked = await seen(tab);

  // The slider by keyboard; each key asks anew, and only the last question is answered.
  const slider = tab.locator("#safety-slider");
  await slider.focus();
  for (let press = 0; press < 20; press++) await slider.press("ArrowRight");
  await settled(tab);
  found.safer = await seen(tab);
  found.sliderText = await slider.getAttribute("aria-valuetext");
  await slider.press("Home");
  await settled(tab);
  found.unsafe = await seen(tab);
  await tab.locator("#curve summary").click();
  await tab.locator("#curve tbody tr >> nth=3").getByRole("button").click();
  await settled(tab);
  found.chosen = await seen(tab);
  await tab.getByRole("button", { name: "Back to 0.1" }).click();
  await settled(tab);

  await tab.getByLabel("Income: at most").fill("3,000");
  await settled(tab);
  found.limited = await seen(tab);
  await tab.getByLabel("Income: at most").fill("");

  const income = tab.getByRole("textbox", { name: "Income", exact: true });
  await income.fill("many");
  await tab.locator("#answer .progress p").waitFor();
  found.fault = { beside: await texts(tab, ".fault:not(:empty)"), answer: await text(tab, "#answer .progress"), invalid: await income.getAttribute("aria-invalid") };
  await income.fill("90,000");
  await settled(tab);
  found.favourable = await seen(tab);
  found.favourableLetter = await letterText(tab);
  await tab.getByLabel("Person from people.csv").selectOption({ index: 1 });
  await settled(tab);
  found.second = await seen(tab);

  await tab.getByRole("button", { name: "Deutsch" }).click();
  await settled(tab);
  found.german = await seen(tab);
  found.german.letter = await letterText(tab);
  found.german.title = await tab.title();
  found.german.lang = await tab.evaluate(() => document.documentElement.lang);
  found.german.income = await tab.getByRole("textbox", { name: "Income", exact: true }).inputValue();
  found.german.focused = await tab.evaluate(() => document.activeElement.textContent);
  await tab.locator("header select").selectOption({ index: 2 });
  found.theme = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await tab.reload();
  await settled(tab);
  found.reloaded = { title: await tab.title(), theme: await tab.evaluate(() => getComputedStyle(document.body).backgroundColor) };
  return found;
}

/** What the page says of every person of a table. */
async function everybody(browser, address, folder) {
  const { tab, noted } = await open(browser, address);
  await settled(tab);
  await tab.locator("input[type=file]").setInputFiles(path.join(folder, "people.csv"));
  await settled(tab);
  const count = await tab.locator(".row-choice option").count();
  const people = [];
  for (let row = 0; row < count; row++) {
    if (row > 0) {
      await tab.locator(".row-choice select").selectOption({ index: row });
      await settled(tab);
    }
    people.push({ id: await text(tab, `.row-choice option >> nth=${row}`), letter: await letterText(tab), ...(await seen(tab)) });
  }
  return { people, noted };
}

/** Only the keyboard: from the top of the page to a lock, the slider and the proof. */
async function keyboard(browser, address) {
  const { tab } = await open(browser, address);
  await settled(tab);
  const passed = [];
  let hidden = 0;
  for (let press = 0; press < 80; press++) {
    await tab.keyboard.press("Tab");
    const focused = await tab.evaluate(() => {
      const element = document.activeElement;
      const box = (element.closest("label") ?? element).getBoundingClientRect();
      const name = element.getAttribute("aria-label") ?? element.labels?.[0]?.innerText ?? element.innerText ?? element.title;
      return { tag: element.tagName, name: (name ?? "").trim(), isSeen: box.width > 1 && box.height > 1 };
    });
    if (focused.tag === "BODY") break;
    if (!focused.isSeen) hidden++;
    passed.push(`${focused.tag} ${focused.name}`);
  }
  return { passed, hidden };
}

const problem = (status, kind, detail) => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({ type: `urn:surefoot:error:${kind}`, title: "A title", status, detail, request_id: "abc123" }),
});

/** Errors of the service, as the page shows them. */
async function errors(browser, address) {
  const found = {};
  for (const [name, answer] of Object.entries({
    invalid: problem(422, "invalid", "person 1: `income`: out of range"),
    slow: problem(422, "time-limit", "the answer takes longer than 1 s"),
    internal: problem(500, "internal", "a fault"),
  })) {
    const { tab } = await open(browser, address, {
      before: (tab) => tab.route("**/v1/recourse/stream", (route) => route.fulfill(answer)),
    });
    await tab.locator("#answer .failure").waitFor();
    found[name] = await text(tab, "#answer .failure");
    await tab.unroute("**/v1/recourse/stream");
    await tab.locator("#answer .failure button").click();
    await tab.locator("#answer .status").waitFor();
    found[`${name}Afterwards`] = await text(tab, "#answer .status");
    await tab.context().close();
  }
  {
    let refusals = 2;
    const { tab } = await open(browser, address, {
      before: (tab) =>
        tab.route("**/v1/recourse/stream", (route) =>
          refusals-- > 0 ? route.fulfill({ ...problem(429, "busy", "full"), headers: { "Retry-After": "1" } }) : route.continue(),
        ),
    });
    await tab.locator("#answer .progress p").waitFor();
    found.busy = await text(tab, "#answer .progress");
    await tab.locator("#answer .status").waitFor();
    found.busyAfterwards = await text(tab, "#answer .status");
    await tab.context().close();
  }
  {
    const { tab } = await open(browser, address);
    await settled(tab);
    await tab.context().setOffline(true);
    await tab.getByRole("textbox", { name: "Income", exact: true }).fill("2000");
    await tab.locator("#answer .failure").waitFor();
    found.away = await text(tab, "#answer .failure");
    found.awayIncome = await tab.getByRole("textbox", { name: "Income", exact: true }).inputValue();
    await tab.context().setOffline(false);
    await tab.locator("#answer .failure button").click();
    await tab.locator("#answer .status").waitFor();
    found.awayAfterwards = await text(tab, "#answer .status");
    await tab.context().close();
  }
  {
    // A later part that fails leaves the answer as it is.
    const { tab } = await open(browser, address, {
      before: (tab) => tab.route("**/v1/trade-off", (route) => route.fulfill(problem(500, "internal", "a fault"))),
    });
    await tab.locator("#curve .failure").waitFor();
    found.part = await text(tab, "#curve .failure");
    found.partAnswer = await text(tab, "#answer .status");
    await tab.unroute("**/v1/trade-off");
    await tab.locator("#curve .failure button").click();
    await tab.locator("#curve svg").waitFor();
    found.partAfterwards = await tab.locator("#curve .spot").count();
    await tab.context().close();
  }
  {
    // The stream ends before the answer.
    const { tab } = await open(browser, address, {
      before: (tab) =>
        tab.route("**/v1/recourse/stream", (route) =>
          route.fulfill({ contentType: "text/event-stream", body: 'event: incumbent\ndata: {"cost":1,"action":{"income":9}}\n\n' }),
        ),
    });
    await tab.locator("#answer .failure").waitFor();
    found.cut = await text(tab, "#answer .failure");
    await tab.context().close();
  }
  for (const [name, lines] of Object.entries({ empty: "", uneven: "id,income\n1,2,3\n", unread: "id,income,education\nx,many,11\n" })) {
    const { tab } = await open(browser, address);
    await settled(tab);
    await tab.locator("input[type=file]").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(lines) });
    await tab.locator(".note:not(:empty)").waitFor();
    found[`table-${name}`] = await text(tab, ".note");
    await tab.context().close();
  }
  return found;
}

/** Better answers of a search are shown while it goes on. */
async function stream(browser, address) {
  const events = [
    'event: incumbent\ndata: {"cost":1.31,"action":{"income":1965.2},"proven":false}\n\n',
    'event: bound\ndata: {"cost_bound":0.9499}\n\n',
    'event: proof\ndata: {"cost":1.07,"action":{"income":1604.8},"proven":true}\n\n',
  ];
  const { tab } = await open(browser, address, {
    before: (tab) =>
      tab.addInitScript((events) => {
        const ask = window.fetch;
        window.fetch = async (resource, request) => {
          if (!String(resource).includes("stream")) return ask(resource, request);
          const encoder = new TextEncoder();
          const body = new ReadableStream({
            start: (controller) => events.forEach((event) => controller.enqueue(encoder.encode(event))),
          });
          return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
        };
      }, events),
  });
  await tab.getByText("0.949").waitFor();
  return { progress: await text(tab, "#answer .progress") };
}

/** A token is asked for, and a wrong one is told. */
async function token(browser, address) {
  const { tab } = await open(browser, address);
  const found = {};
  await tab.locator("#token").waitFor();
  found.asked = await text(tab, "form");
  await tab.locator("#token").fill("wrong");
  await tab.locator("form button").click();
  await tab.locator("form [role=alert]").waitFor();
  found.refused = await text(tab, "form");
  await tab.locator("#token").fill("right-right-right-right");
  await tab.locator("#token").press("Enter");
  await settled(tab);
  found.answer = await seen(tab);
  return found;
}

/** Both widths, themes and languages: what axe finds, whether it is wider than the window, and pictures. */
async function looks(browser, address, folder) {
  const found = [];
  for (const [width, scheme, locale] of [
    [1280, "light", "en-GB"],
    [1280, "dark", "de-DE"],
    [360, "light", "de-DE"],
    [360, "dark", "en-GB"],
  ]) {
    const { tab, noted } = await open(browser, address, { width, scheme, locale, bypassCSP: true });
    await settled(tab);
    const table = path.join(folder, "people.csv");
    if (fs.existsSync(table)) {
      await tab.locator("input[type=file]").setInputFiles(table);
      await settled(tab);
    }
    await tab.locator("summary").evaluateAll((all) => all.forEach((summary) => (summary.parentElement.open = true)));
    const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    await tab.evaluate(axe);
    const result = await tab.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    await tab.screenshot({ path: path.join(folder, `${width}-${scheme}-${locale}.png`), fullPage: true });
    found.push({
      width,
      scheme,
      locale,
      overflow,
      elsewhere: noted.elsewhere,
      passes: result.passes.length,
      violations: result.violations.map((rule) => ({
        rule: rule.id,
        impact: rule.impact,
        nodes: rule.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 200)} ${node.failureSummary}`),
      })),
    });
    await tab.context().close();
  }
  return found;
}

async function main() {
  const stories = { story, everybody, keyboard, errors, stream, token, looks };
  const [name, address, folder] = process.argv.slice(2);
  const browser = await launch();
  console.log(JSON.stringify(await stories[name](browser, address, folder), null, 2));
  await browser.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
