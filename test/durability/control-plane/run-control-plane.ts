import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createSeededRandom } from "../../../src/base/random.ts";
import { claimPort } from "../../machine/claims.ts";
import type { Mode } from "../mode.ts";
import { buildProgram } from "../program.ts";
import { type Counts, createCounts, runControlPlaneLane } from "./lane.ts";

const LANES = Math.max(1, Math.min(2, availableParallelism()));

/**
 * Kills the built `nodelet control-plane` while clients write over HTTPS, while it opens and empties its journal, makes
 * its certificates or salvages a damaged database. After each start everything is there that was acknowledged, nothing
 * that was refused, revisions have not gone back, watches go on, and the authority is the same.
 */
export const controlPlaneMode: Mode = ({ times, seed, work }) => {
  const counts = createCounts();
  return {
    describe: () => describeCounts(counts),
    async run() {
      buildProgram();
      const lanes = Array.from({ length: LANES }, async (_, lane) => {
        const random = createSeededRandom(seed + lane);
        const share = Math.floor((times + LANES - 1 - lane) / LANES) + 1;
        await runControlPlaneLane(
          { directory: join(work, `lane-${lane}`), port: await claimPort(), random, counts },
          share,
        );
      });
      await Promise.all(lanes);
    },
  };
};

function describeCounts({ kills, acknowledged, looks, watchesResumed, watchesExpired }: Counts): string {
  const plans = Object.entries(kills);
  const all = plans.reduce((sum, [, count]) => sum + count, 0);
  return [
    `${all} kills (${plans.map(([plan, count]) => `${plan} ${count}`).join(", ")})`,
    `${acknowledged} writes acknowledged, ${looks} looks`,
    `${watchesResumed} watches went on, ${watchesExpired} had expired`,
  ].join("; ");
}
