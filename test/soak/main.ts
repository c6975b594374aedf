import { readCommandOptions, readWholeNumber } from "../command-options.ts";
import { soakForReal } from "./real/soak-for-real.ts";
import { soakVirtually } from "./virtual/soak-virtually.ts";

const USAGE = `npm run soak [-- --minutes N]        a real node of its own for N minutes (default 60), with churn and faults
npm run soak -- --virtual-hours N    one simulated node for N hours of its clock, with as many seeds as that takes

Both end with a table of what was counted, and with exit code 1 where something grows. --seed S chooses what
happens, --machine-limits lets the real one lower limits of the whole machine (inotify).`;

const values = readCommandOptions(USAGE, {
  ...{ minutes: { type: "string", default: "60" }, "virtual-hours": { type: "string" }, seed: { type: "string" } },
  "machine-limits": { type: "boolean", default: false },
});
const hours = values["virtual-hours"];
const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : readWholeNumber("seed", values.seed);
console.log(`Seed ${seed}; again with --seed ${seed}`);
const growing =
  hours === undefined
    ? await soakForReal({
        minutes: readWholeNumber("minutes", values.minutes, 1),
        seed,
        lowersMachineLimits: values["machine-limits"],
      })
    : await soakVirtually({ hours: readWholeNumber("virtual-hours", hours, 1), seed });
console.log(growing.length === 0 ? "Nothing grows." : `What grows: ${growing.join(", ")}`);
process.exit(growing.length === 0 ? 0 : 1);
