/**
 * `npm run all`: runs every suite, some side by side, and tells the time of each at the end. `npm run all -- lint unit` runs
 * these alone. The output of a suite goes to a file; what failed is shown whole, when it has ended.
 *
 * Suites share the machine, and a test may fail because of what ran beside it. The few files that failed run once more by
 * themselves when all else has ended. What passes then is told by name at the end: the run passes, and that test has a bug.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./built.mjs";

/**
 * In their order. A suite begins when those of its lane before it have ended, and `after` says which others too. The lanes
 * run side by side: `waits` and `kills` wait for containers, processes and clocks; `reads` and `runs` only need processors.
 * Most suites keep one processor busy at most, so that a single lane of them would leave the others idle. `alone` begins when
 * all lanes have ended. What `givesWay` has a low priority: it measures nothing, and no container waits for it.
 * What may fail because of its neighbours has `again`: the command that runs single files of it, or none for all of it.
 */
const SUITES = [
  { name: "build", lane: "waits", command: script("build") },
  { name: "contract", lane: "waits", command: project("contract*"), again: project("contract*") },
  { name: "e2e", lane: "waits", command: project("e2e"), after: ["build"], again: project("e2e") },
  {
    name: "kills-agent",
    lane: "kills",
    command: script("durability", "--agent", "--times", "5"),
    after: ["build"],
    again: [],
  },
  {
    name: "kills-plane",
    lane: "kills",
    givesWay: true,
    command: script("durability", "--control-plane", "--times", "15"),
    after: ["build"],
    again: [],
  },
  { name: "durability", lane: "kills", givesWay: true, command: script("durability", "--times", "300") },
  { name: "typecheck", lane: "reads", givesWay: true, command: script("typecheck") },
  { name: "lint", lane: "reads", givesWay: true, command: script("lint") },
  { name: "tidy", lane: "reads", givesWay: true, command: script("tidy") },
  { name: "check-package", lane: "reads", givesWay: true, command: script("check-package"), after: ["build"] },
  { name: "unit", lane: "runs", givesWay: true, command: project("unit"), again: project("unit") },
  // The same seeds for each commit: fresh ones still find something once in a few hundred, which is no commit's fault.
  { name: "simulator", lane: "runs", givesWay: true, command: script("sim", "--seeds", "15", "--first", "80") },
  // The same inputs for each commit, too: with time as the limit, each machine would try others.
  { name: "fuzz", lane: "runs", givesWay: true, command: script("fuzz", "--fixed", "--seed", "1") },
  // It measures, so that it has the machine for itself.
  {
    name: "e2e-alone",
    lane: "alone",
    command: project("e2e-alone"),
    after: ["build"],
    again: project("e2e-alone"),
  },
];

/** They run side by side. */
const LANES = ["waits", "kills", "reads", "runs"];

/** More files than these fail for a reason of their own. */
const MOST_FILES_AGAIN = 4;

/** What waits for containers gets three times as much: with less, tests that give way would meet their own time limits. */
const NICENESS = "5";
const PROGRESS_MS = 30_000;
const LINE_CHARACTERS = 110;
/** In `/proc/<pid>/stat`, counted from the state, which comes after the name. */
const CHILDREN_USER_TICKS = 13;
const CHILDREN_SYSTEM_TICKS = 14;
const TICKS_PER_SECOND = 100;
/** How long the suites may clean up after a Ctrl-C. */
const END_GRACE_MS = 20_000;

const logs = mkdtempSync(join(tmpdir(), "nodelet-suites-"));
const startedAt = Date.now();
const running = new Map();
const results = new Map();
/** The end of each chosen suite, whether it ran or not. */
const ends = new Map();
let interrupted = false;
let countedProcessorSeconds = 0;

process.exitCode = await main(process.argv.slice(2));

async function main(names) {
  const unknown = names.find((name) => !SUITES.some((suite) => suite.name === name));
  if (unknown !== undefined) {
    console.error(`There is no suite ${unknown}; there are ${SUITES.map(({ name }) => name).join(", ")}.`);
    return 2;
  }
  const chosen = SUITES.filter(({ name }) => names.length === 0 || names.includes(name));
  for (const { name } of chosen) ends.set(name, createEnd());
  const laneOf = (name) => chosen.filter(({ lane }) => lane === name);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, interrupt);
  const ticker = setInterval(tellProgress, PROGRESS_MS);
  await Promise.all(LANES.map((lane) => runLane(laneOf(lane))));
  await runLane(laneOf("alone"));
  for (const suite of chosen) await runFailedFilesAgain(suite);
  clearInterval(ticker);
  tellResults(chosen);
  if (interrupted) return 130;
  const isPassed = chosen.every(({ name }) => results.get(name)?.state === "passed");
  const areAllClean = chosen.every(({ name }) => results.get(name)?.files === undefined);
  if (isPassed && areAllClean) rmSync(logs, { recursive: true });
  return isPassed ? 0 : 1;
}

function script(name, ...args) {
  return ["npm", "run", "--silent", name, ...(args.length > 0 ? ["--", ...args] : [])];
}

function project(name) {
  return ["npx", "vitest", "run", "--project", name];
}

async function runLane(suites) {
  for (const suite of suites) {
    if (interrupted) return;
    await Promise.all((suite.after ?? []).map((name) => ends.get(name)?.promise));
    const lacks = (suite.after ?? []).find((name) => results.get(name)?.state !== "passed" && results.has(name));
    if (lacks === undefined) await runSuite(suite);
    else results.set(suite.name, { state: "not run", seconds: 0, text: `${lacks} failed` });
    ends.get(suite.name).tell();
  }
}

function createEnd() {
  let tell = () => undefined;
  const promise = new Promise((resolve) => {
    tell = () => resolve(undefined);
  });
  return { promise, tell };
}

/** Linux shares processors among sessions first, so that a niceness counts within one only; this is that of the session. */
function lowerPriority(pid) {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, NICENESS);
  } catch {
    // A kernel without groups of sessions goes by the niceness of the processes.
  }
}

/** Runs what failed of a suite by itself. Nothing else runs any more. */
async function runFailedFilesAgain(suite) {
  const { state, seconds, text } = results.get(suite.name) ?? {};
  if (interrupted || state !== "failed" || suite.again === undefined) return;
  const hasFiles = suite.again.length > 0;
  const files = hasFiles ? failedFiles(text) : [suite.name];
  if (files.length === 0 || files.length > MOST_FILES_AGAIN) return;
  const name = `${suite.name}-again`;
  await runSuite({ name, lane: "alone", command: hasFiles ? [...suite.again, ...files] : suite.command });
  const again = results.get(name);
  results.delete(name);
  if (again.state === "passed")
    results.set(suite.name, { state: "passed", seconds: seconds + again.seconds, text, files });
}

/** The test files that failed, or in which an error had its origin that no test caught, as vitest names them. */
function failedFiles(text) {
  const named = /^ *FAIL +(?:\|[\w-]+\| +)?(\S+\.test\.ts)|error originated in "(\S+\.test\.ts)"/gm;
  return [...new Set([...text.matchAll(named)].map(([, failed, origin]) => failed ?? origin))];
}

async function runSuite(suite) {
  const { name, givesWay, command } = suite;
  const log = join(logs, `${name}.log`);
  const output = openSync(log, "w");
  // Each process of Node.js reads these certificates at its start, and some suites start hundreds. None needs them.
  const { FORCE_COLOR: _, NODE_EXTRA_CA_CERTS: __, ...env } = { ...process.env, NO_COLOR: "1" };
  const [program, ...rest] = givesWay ? ["nice", "-n", NICENESS, ...command] : command;
  // In a session of its own, and so in a process group, which is ended as a whole.
  const child = spawn(program, rest, { cwd: ROOT, env, detached: true, stdio: ["ignore", output, output] });
  closeSync(output);
  if (givesWay && child.pid !== undefined) lowerPriority(child.pid);
  say(`begins: ${name}`);
  const suiteStartedAt = Date.now();
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: error.message, processorSeconds: 0 }));
    child.once("exit", (code, signal) => resolve({ code: code ?? signal, processorSeconds: newProcessorSeconds() }));
  });
  running.set(name, { log, child });
  const { code, processorSeconds } = await ended;
  running.delete(name);
  const seconds = (Date.now() - suiteStartedAt) / 1000;
  const text = readFileSync(log, "utf8");
  const state = code === 0 ? "passed" : interrupted ? "stopped" : "failed";
  results.set(name, { state, seconds, processorSeconds, text });
  if (code === 0) say([`passed: ${name} (${formatSeconds(seconds)})`, ...summaryOf(text)].join("\n    "));
  else if (!interrupted) say(`FAILED: ${name} (${formatSeconds(seconds)}), ended with ${code}\n${frame(name, text)}`);
}

/**
 * What the children that ended since the last call had of the processors, with their own children: Linux adds it when a child
 * is waited for, which is just before its exit is told. What left its parent, as containers do, is not in it.
 */
function newProcessorSeconds() {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  const total = (Number(fields[CHILDREN_USER_TICKS]) + Number(fields[CHILDREN_SYSTEM_TICKS])) / TICKS_PER_SECOND;
  const added = total - countedProcessorSeconds;
  countedProcessorSeconds = total;
  return added;
}

/** What is to be seen of a suite that passed: what was skipped, and how the runner closes. */
function summaryOf(text) {
  const lines = text.split("\n").map((line) => line.trim());
  const skipped = new Set(lines.filter((line) => /^SKIPPED/.test(line)));
  const closing = lines.filter((line) => /^(Test Files|Tests) +\d/.test(line));
  const last = lines.filter((line) => line !== "").slice(-1);
  return [...skipped, ...(closing.length > 0 ? closing : last)].map(shorten);
}

function frame(name, text) {
  const line = "─".repeat(30);
  return `${line} ${name}\n${text.trimEnd()}\n${line} end of ${name}`;
}

function tellProgress() {
  for (const [name, { log }] of running) {
    const lines = readFileSync(log, "utf8").split("\n");
    const last = lines.findLast((line) => line.trim() !== "") ?? "";
    const files = lines.filter((line) => /^ +[✓❯×↓].* \S+\.test\.ts /.test(line)).length;
    say(`  ${name} goes on: ${files > 0 ? `${files} files done` : shorten(last.trim())}`);
  }
}

function tellResults(chosen) {
  const rows = chosen.map(({ name }) => {
    const { state, seconds, processorSeconds = 0 } = results.get(name) ?? { state: "not run", seconds: 0 };
    return `  ${name.padEnd(14)}${[seconds, processorSeconds].map((time) => formatSeconds(time).padStart(8)).join("")}  ${state}`;
  });
  const passed = chosen.filter(({ name }) => results.get(name)?.state === "passed").length;
  const total = formatSeconds((Date.now() - startedAt) / 1000);
  const counts = ["Test Files", "Tests"].map((what) => `${what.padStart(11)}  ${sumOf(what)}`);
  const lacking = chosen.length - passed;
  const suites = `     Suites  ${lacking === 0 ? "" : `${lacking} failed | `}${passed} passed (${chosen.length})`;
  const byThemselves = chosen.flatMap(({ name }) => results.get(name)?.files ?? []);
  const kept = lacking === 0 && byThemselves.length === 0 ? [] : [`       Logs  ${logs}`];
  const found = byThemselves.map((file) => `  ${file} failed beside others and passed by itself: mend it.`);
  console.log(["", ...rows, "", ...found, suites, ...counts, `   Duration  ${total}`, ...kept].join("\n"));
}

/** The sum of the suites' closing lines, in the words of the test runner. */
function sumOf(what) {
  const sums = { failed: 0, passed: 0, skipped: 0 };
  for (const { text } of results.values()) {
    const closing = new RegExp(`^ *${what} +(\\d.*)$`, "m").exec(text)?.[1] ?? "";
    for (const [, count, kind] of closing.matchAll(/(\d+) (failed|passed|skipped)/g)) sums[kind] += Number(count);
  }
  const told = Object.entries(sums).filter(([kind, count]) => kind === "passed" || count > 0);
  const all = Object.values(sums).reduce((sum, count) => sum + count, 0);
  return `${told.map(([kind, count]) => `${count} ${kind}`).join(" | ")} (${all})`;
}

/** The first time in order, after that at once. */
function interrupt() {
  const signal = interrupted ? "SIGKILL" : "SIGINT";
  interrupted = true;
  if (running.size > 0) say(`stopping ${[...running.keys()].join(", ")}`);
  endAll(signal);
  setTimeout(() => endAll("SIGKILL"), END_GRACE_MS).unref();
}

function endAll(signal) {
  for (const { child } of running.values()) {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}

function say(text) {
  console.log(`${formatSeconds((Date.now() - startedAt) / 1000).padStart(7)}  ${text}`);
}

function formatSeconds(seconds) {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function shorten(line) {
  return line.length > LINE_CHARACTERS ? `${line.slice(0, LINE_CHARACTERS)}…` : line;
}
