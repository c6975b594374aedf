import { expect, it } from "vitest";
import type { DevicePlugin } from "../../../device-plugin/port.ts";
import { createDeviceInventory } from "./device-inventory.ts";

const unused = async () => await Promise.reject(new Error("nothing is called"));

it("tells with 0 of a thousand removed resources at most, however many plugins come and go", () => {
  const inventory = createDeviceInventory();
  const client: DevicePlugin = {
    options: unused,
    listAndWatch: () => ({ [Symbol.asyncIterator]: () => ({ next: unused }) }),
    preferredAllocation: unused,
    allocate: unused,
    preStartContainer: unused,
    close: () => undefined,
  };
  const options = { preStartRequired: false, preferredAllocationAvailable: false };
  for (let count = 0; count < 1_500; count++) {
    const name = `example.com/${count}`;
    const plugin = { client, options };
    inventory.connect(name, plugin);
    inventory.stop(name, plugin);
    expect(inventory.remove(name)).toBe(true);
  }
  const { capacity } = inventory.capacity();
  expect(Object.keys(capacity)).toHaveLength(1_000);
  expect(capacity).toMatchObject({ "example.com/1499": "0", "example.com/500": "0" });
});
