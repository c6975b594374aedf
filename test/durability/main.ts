import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { createSeededRandom } from "../../src/base/random.ts";
import { type Counts, runLane } from "./lane.ts";

/**
 * tsx test/durability/main.ts [--times N] [--seed S]
 *
 * Kills a process that writes to the store, N times (default 300) at random moments, and looks each time whether
 * everything is there that it had acknowledged. The seed decides what is written and torn, and when it is killed; how
 * far it came by then is up to the machine.
 */
const times = readNumber("--times") ?? 300;
const seed = readNumber("--seed") ?? Math.floor(Math.random() * 1_000_000);
const LANES = Math.max(1, Math.min(4, availableParallelism()));

const work = mkdtempSync(join(tmpdir(), "nodelet-durability-"));
const counts: Counts = {
  kills: 0,
  killsWhileOpening: 0,
  acknowledged: 0,
  extra: 0,
  tears: { none: 0, added: 0, broken: 0 },
};
const start = performance.now();
try {
  const program = await bundleWriter(join(work, "writer.mjs"));
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    const random = createSeededRandom(seed + lane);
    // One more, which finds what the last kill left.
    const share = Math.floor((times + LANES - 1 - lane) / LANES) + 1;
    await runLane({ program, directory: join(work, `lane-${lane}`), random }, share, counts);
  });
  await Promise.all(lanes);
  rmSync(work, { recursive: true });
  console.log(`${describeCounts()}: nothing that was acknowledged is lost`);
} catch (error) {
  console.error(describeCounts());
  console.error(error);
  process.exit(1);
}

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

function describeCounts(): string {
  const { kills, killsWhileOpening, acknowledged, extra, tears } = counts;
  return [
    `seed ${seed}, ${((performance.now() - start) / 1000).toFixed(0)} s`,
    `${kills} kills (${killsWhileOpening} while opening), ${acknowledged} writes acknowledged, ${extra} more found`,
    `${tears.added} torn ends added, ${tears.broken} unacknowledged writes broken`,
  ].join("; ");
}

function readNumber(flag: string): number | undefined {
  const place = process.argv.indexOf(flag);
  if (place < 0) return undefined;
  const value = Number(process.argv[place + 1]);
  if (Number.isInteger(value) && value >= 0) return value;
  console.error(`${flag} takes a whole number`);
  process.exit(2);
}
