// Chromium without a network of its own, and axe, for the checks of pages.

const fs = require("fs");
const { chromium } = require("playwright-core");

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

exports.axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
exports.launch = () => chromium.launch({ executablePath: process.env.CHROMIUM, args: flags });
