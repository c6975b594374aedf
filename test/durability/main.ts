import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../src/base/errors.ts";
import { readCommandOptions, readWholeNumber, refuseOption } from "../command-options.ts";
import { agentMode } from "./agent/run-agent.ts";
import { controlPlaneMode } from "./control-plane/run-control-plane.ts";
import { storeMode } from "./run-store.ts";

const USAGE = `npm run durability -- [--control-plane | --agent] [--times N] [--seed S]

Kills the store (default), a whole control plane or a node agent, N times (default 300) with SIGKILL at moments that the seed
decides, and looks each time whether anything was lost.`;

const values = readCommandOptions(USAGE, {
  ...{ agent: { type: "boolean", default: false }, "control-plane": { type: "boolean", default: false } },
  ...{ times: { type: "string", default: "300" }, seed: { type: "string" } },
});
if (values.agent && values["control-plane"]) refuseOption("--agent and --control-plane exclude each other");
const times = readWholeNumber("times", values.times);
const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : readWholeNumber("seed", values.seed);
const work = mkdtempSync(join(tmpdir(), "nodelet-durability-"));
const chosen = values.agent ? agentMode : values["control-plane"] ? controlPlaneMode : storeMode;
const mode = chosen({ times, seed, work });
const start = performance.now();
const describe = () => `seed ${seed}, ${((performance.now() - start) / 1000).toFixed(0)} s; ${mode.describe()}`;
try {
  await mode.run();
  rmSync(work, { recursive: true });
  console.log(`${describe()}: nothing is lost`);
} catch (error) {
  console.error(describe());
  console.error(error, `\n${messageOf(error)}; what is left is in ${work}`);
  process.exit(1);
}
