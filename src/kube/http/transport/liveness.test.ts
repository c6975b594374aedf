import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createLiveness } from "./liveness.ts";

function createPeer() {
  const clock = createFakeClock();
  const pings: number[] = [];
  const peer: { answers: boolean; deadAt?: number } = { answers: true };
  const liveness = createLiveness(
    {
      clock,
      ping(onPong) {
        pings.push(clock.monotonic());
        if (peer.answers) clock.setTimer(10, onPong);
      },
      onDead: () => {
        peer.deadAt = clock.monotonic();
      },
    },
    { pingAfterMs: 30_000, pingTimeoutMs: 15_000 },
  );
  return { clock, pings, peer, liveness };
}

describe("liveness", () => {
  it("asks after each period of silence for as long as it is answered", async () => {
    const { clock, pings, peer } = createPeer();
    await clock.advance(100_000);
    expect(pings).toEqual([30_000, 60_010, 90_020]);
    expect(peer.deadAt).toBeUndefined();
  });

  it("asks nobody who talks", async () => {
    const { clock, pings, liveness } = createPeer();
    for (let second = 0; second < 100; second++) {
      await clock.advance(1_000);
      liveness.heard();
    }
    expect(pings).toEqual([]);
    await clock.advance(30_000);
    expect(pings).toEqual([130_000]);
  });

  it("gives up when the answer does not come in time", async () => {
    const { clock, peer } = createPeer();
    peer.answers = false;
    await clock.advance(100_000);
    expect(peer.deadAt).toBe(45_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it("asks at once when it is told to, once for all who want to know", async () => {
    const { clock, pings, liveness } = createPeer();
    let alive = 0;
    await clock.advance(1_000);
    liveness.check(() => alive++);
    liveness.check(() => alive++);
    await clock.advance(10);
    expect(pings).toEqual([1_000]);
    expect(alive).toBe(2);
    await clock.advance(30_000);
    expect(pings).toEqual([1_000, 31_010]);
  });

  it("leaves nothing behind when it is stopped in the middle of a question", async () => {
    const { clock, peer, liveness } = createPeer();
    liveness.check(() => undefined);
    liveness.stop();
    await clock.advance(60_000);
    expect(peer.deadAt).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });
});
