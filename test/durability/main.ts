import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../src/base/errors.ts";
import { agentMode } from "./agent/run-agent.ts";
import { controlPlaneMode } from "./control-plane/run-control-plane.ts";
import { storeMode } from "./run-store.ts";

/**
 * tsx test/durability/main.ts [--control-plane | --agent] [--times N] [--seed S]
 *
 * Kills the store (default), a whole control plane or a node agent, N times (default 300) with SIGKILL at moments that the seed
 * decides, and looks each time whether anything was lost.
 */
const isAgent = process.argv.includes("--agent");
const isControlPlane = process.argv.includes("--control-plane");
const times = readNumber("--times") ?? 300;
const seed = readNumber("--seed") ?? Math.floor(Math.random() * 1_000_000);
const work = mkdtempSync(join(tmpdir(), "nodelet-durability-"));
const chosen = isAgent ? agentMode : isControlPlane ? controlPlaneMode : storeMode;
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

function readNumber(flag: string): number | undefined {
  const place = process.argv.indexOf(flag);
  if (place < 0) return undefined;
  const value = Number(process.argv[place + 1]);
  if (Number.isInteger(value) && value >= 0) return value;
  console.error(`${flag} takes a whole number`);
  process.exit(2);
}
