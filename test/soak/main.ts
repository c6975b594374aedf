import { soakForReal } from "./real/soak-for-real.ts";
import { soakVirtually } from "./virtual/soak-virtually.ts";

/**
 * npm run soak [-- --minutes N]        a real node of its own for N minutes (default 60), with churn and faults
 * npm run soak -- --virtual-hours N    one simulated node for N hours of its clock, with as many seeds as that takes
 *
 * Both end with a table of what was counted, and with exit code 1 where something grows. `--seed S` chooses what
 * happens, `--machine-limits` lets the real one lower limits of the whole machine (inotify).
 */
const virtualHours = readNumber("--virtual-hours");
const seed = readNumber("--seed") ?? Math.floor(Math.random() * 1_000_000);
console.log(`Seed ${seed}; again with --seed ${seed}`);
const growing =
  virtualHours === undefined
    ? await soakForReal({
        minutes: readNumber("--minutes") ?? 60,
        seed,
        lowersMachineLimits: process.argv.includes("--machine-limits"),
      })
    : await soakVirtually({ hours: virtualHours, seed });
console.log(growing.length === 0 ? "Nothing grows." : `What grows: ${growing.join(", ")}`);
process.exit(growing.length === 0 ? 0 : 1);

function readNumber(flag: string): number | undefined {
  const place = process.argv.indexOf(flag);
  if (place < 0) return undefined;
  const value = Number(process.argv[place + 1]);
  if (value > 0) return value;
  console.error(`${flag} takes a number`);
  process.exit(2);
}
