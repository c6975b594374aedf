import { resolve } from "node:path";
import { parseArgs } from "node:util";

const CASE_NAMES = ["single", "burst", "exit", "back-off", "idle", "ready"] as const;
export type CaseName = (typeof CASE_NAMES)[number];

export interface BenchOptions {
  json: boolean;
  cases: readonly CaseName[];
  sizes: Sizes;
  /** The JavaScript file of the node agent. */
  program: string;
}

/** How much is measured. */
export interface Sizes {
  /** Pods that are started and stopped one at a time, on either side. */
  singlePods: number;
  burstPods: number;
  burstRounds: number;
  /** Pods whose containers end one after another, and how many containers each has. */
  exitPods: number;
  exitContainers: number;
  crashingPods: number;
  idlePods: number;
  idleSeconds: number;
  agentStarts: number;
}

const FULL: Sizes = {
  singlePods: 30,
  burstPods: 30,
  burstRounds: 3,
  exitPods: 10,
  exitContainers: 10,
  crashingPods: 20,
  idlePods: 50,
  idleSeconds: 30,
  agentStarts: 10,
};

const QUICK: Sizes = {
  singlePods: 5,
  burstPods: 10,
  burstRounds: 1,
  exitPods: 1,
  exitContainers: 5,
  crashingPods: 3,
  idlePods: 10,
  idleSeconds: 5,
  agentStarts: 2,
};

const PROGRAM = new URL("../dist/nodelet.js", import.meta.url).pathname;

export const USAGE = `Usage: npm run bench -- [--quick] [--json] [--only <case>]... [--program <file>]

Measures nodelet against bare CRI calls on a containerd of its own. Needs root, containerd and \`npm run build\`.

  --quick        few samples: whether it works, not how fast it is
  --json         print one line of JSON instead of a table
  --only <case>  one of ${CASE_NAMES.join(", ")}; repeatable
  --program <f>  measure this build rather than dist/nodelet.js`;

/** Undefined when help is asked for. Throws, saying why, for arguments that cannot be. */
export function parseOptions(argv: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      program: { type: "string", default: PROGRAM },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const unknown = values.only.find((name) => !CASE_NAMES.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`there is no case ${JSON.stringify(unknown)}`);
  const cases = CASE_NAMES.filter((name) => values.only.length === 0 || values.only.includes(name));
  return { json: values.json, cases, sizes: values.quick ? QUICK : FULL, program: resolve(values.program) };
}
