import { expect, it } from "vitest";
import type { HangGuard } from "../../../base/hang-guard.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createHangGuards } from "./hang-guards.ts";

/** Counts how many of ten calls that never end begin. */
async function countBegun(guard: HangGuard): Promise<number> {
  let begun = 0;
  const hang = async () => {
    begun++;
    await new Promise(() => undefined);
  };
  for (let call = 0; call < 10; call++) void guard.run(`/mnt/${call}`, 1_000, hang).catch(() => undefined);
  await Promise.resolve();
  return begun;
}

it.each([
  [16, 8, 2],
  [4, 2, 1],
])(
  "leaves calls that hang a share of %i places: %i for volumes, %i for a measurement",
  async (places, volumes, one) => {
    const guards = createHangGuards(createFakeClock(), { fileAccessPlaces: () => places });
    expect(await countBegun(guards.forVolumes())).toBe(volumes);
    expect(await countBegun(guards.forMeasurement())).toBe(one);
    expect(await countBegun(guards.forMeasurement())).toBe(one);
  },
);
