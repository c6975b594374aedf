/**
 * Records what a command prints as an animated picture of a terminal: `npx tsx scripts/record.ts docs/npm-start.svg npm
 * start`. Lines appear when they were printed; waits longer than a second are shortened. The command is told to stop
 * (SIGINT) when it has been quiet for three seconds, so that one which goes on for ever can be recorded too.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

interface Line {
  text: string;
  /** Seconds from the start of the picture. */
  at: number;
}

const QUIET_MS = 3_000;
const LONGEST_WAIT_S = 1;
const COLUMNS = 100;
const CELL = { width: 8.4, height: 20 };
const PADDING = 16;

const [output = "docs/npm-start.svg", command = "npm", ...args] = process.argv.slice(2);
const lines = await record(command, args);
writeFileSync(output, draw([command, ...args].join(" "), lines));
console.log(`${output}: ${lines.length} lines`);

async function record(program: string, rest: readonly string[]): Promise<Line[]> {
  const child = spawn(program, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
    detached: true,
  });
  // As a terminal does with Ctrl-C: everything that the command started hears it.
  const interrupt = () => process.kill(-(child.pid ?? 0), "SIGINT");
  const recorded: Line[] = [];
  let last = performance.now();
  let at = 0.5;
  let partial = "";
  let quiet = setTimeout(interrupt, 60_000);
  const take = (chunk: Buffer) => {
    const now = performance.now();
    at += Math.min((now - last) / 1000, LONGEST_WAIT_S);
    last = now;
    const parts = (partial + chunk.toString("utf8")).split("\n");
    partial = parts.pop() ?? "";
    for (const text of parts) recorded.push({ text: printable(text), at });
    clearTimeout(quiet);
    quiet = setTimeout(interrupt, QUIET_MS);
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(quiet);
  return recorded;
}

function printable(text: string): string {
  const plain = stripVTControlCharacters(text).replaceAll("\r", "").replaceAll(process.cwd(), "~/nodelet");
  return plain.length > COLUMNS ? `${plain.slice(0, COLUMNS - 1)}…` : plain;
}

function draw(prompt: string, recorded: readonly Line[]): string {
  const all = [{ text: `# ${prompt}`, at: 0 }, ...recorded];
  const width = Math.ceil(COLUMNS * CELL.width + 2 * PADDING);
  const height = all.length * CELL.height + 2 * PADDING;
  const texts = all.map(({ text, at }, index) => {
    const y = PADDING + (index + 0.75) * CELL.height;
    const appear = `<set attributeName="visibility" to="visible" begin="${at.toFixed(2)}s" fill="freeze"/>`;
    return `<text x="${PADDING}" y="${y}" visibility="hidden" xml:space="preserve">${escapeXml(text)}${appear}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${escapeXml(prompt)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="#16181d"/>`,
    `<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#d8dee9">`,
    ...texts,
    "</g></svg>\n",
  ].join("\n");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
