/**
 * Builds the program unless `dist/` is what the sources say: `node scripts/build-if-stale.mjs`, and before the first test of
 * each suite that runs the program (`globalSetup` in vitest.config.ts).
 */
import { build } from "./set-up.mjs";

export const setup = build;

if (process.argv[1] === import.meta.filename) await build();
