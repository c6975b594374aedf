import { expect, it } from "vitest";
import { createClientShares } from "./client-shares.ts";

const stranger = (address: string) => ({ address, user: undefined, heldBytes: 0 });
const known = (user: string) => ({ address: "192.0.2.1", user, heldBytes: 0 });

it("knows the address that has most strangers, and the user who has most connections", () => {
  const shares = createClientShares();
  expect([shares.busiestAddress(), shares.busiestUser()]).toEqual([undefined, undefined]);
  const clients = [stranger("192.0.2.1"), stranger("192.0.2.2"), stranger("192.0.2.2"), known("jane")];
  for (const client of clients) shares.come(client);
  expect([shares.busiestAddress(), shares.busiestUser()]).toEqual(["192.0.2.2", undefined]);
  expect(shares.strangers).toBe(3);
  for (const client of [known("joe"), known("joe")]) shares.come(client);
  expect(shares.busiestUser()).toBe("joe");
});

it("knows whose requests hold most, and forgets what somebody held who has gone", () => {
  const shares = createClientShares();
  const [jane, joe, joeAgain, nobody] = [known("jane"), known("joe"), known("joe"), stranger("jane")];
  for (const client of [jane, joe, joeAgain, nobody]) shares.come(client);
  shares.hold(jane, 100);
  shares.hold(nobody, 110);
  shares.hold(joe, 60);
  shares.hold(joeAgain, 60);
  expect(shares.heldBytes).toBe(330);
  expect([jane, joe, joeAgain, nobody].map(shares.findGreediest())).toEqual([false, true, true, false]);
  shares.leave(joe);
  expect(shares.heldBytes).toBe(270);
  expect([jane, joeAgain, nobody].map(shares.findGreediest())).toEqual([false, false, true]);
  shares.hold(nobody, -110);
  expect([jane, joeAgain, nobody].map(shares.findGreediest())).toEqual([true, false, false]);
});
