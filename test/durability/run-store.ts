import { availableParallelism } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { createSeededRandom } from "../../src/base/random.ts";
import { type Counts, runLane } from "./lane.ts";
import type { Mode } from "./mode.ts";

const LANES = Math.max(1, Math.min(4, availableParallelism()));

/**
 * Kills a process that writes to the store at random moments, and looks each time whether everything is there that it
 * had acknowledged. The seed decides what is written and torn, and when it is killed; how far it came by then is up to
 * the machine.
 */
export const storeMode: Mode = ({ times, seed, work }) => {
  const counts: Counts = {
    kills: 0,
    killsWhileOpening: 0,
    acknowledged: 0,
    extra: 0,
    tears: { none: 0, added: 0, broken: 0 },
  };
  return {
    describe: () => describeCounts(counts),
    async run() {
      const program = await bundleWriter(join(work, "writer.mjs"));
      const lanes = Array.from({ length: LANES }, async (_, lane) => {
        const random = createSeededRandom(seed + lane);
        // One more, which finds what the last kill left.
        const share = Math.floor((times + LANES - 1 - lane) / LANES) + 1;
        await runLane({ program, directory: join(work, `lane-${lane}`), random }, share, counts);
      });
      await Promise.all(lanes);
    },
  };
};

/** One file starts in a fraction of the time that the sources take. */
async function bundleWriter(outfile: string): Promise<string> {
  const native = import.meta.resolve("libsql/promise");
  await build({
    entryPoints: [join(import.meta.dirname, "writer.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    plugins: [
      {
        name: "leave-native",
        setup: ({ onResolve }) => onResolve({ filter: /^libsql/ }, () => ({ path: native, external: true })),
      },
    ],
  });
  return outfile;
}

function describeCounts({ kills, killsWhileOpening, acknowledged, extra, tears }: Counts): string {
  return [
    `${kills} kills (${killsWhileOpening} while opening), ${acknowledged} writes acknowledged, ${extra} more found`,
    `${tears.added} torn ends added, ${tears.broken} unacknowledged writes broken`,
  ].join("; ");
}
