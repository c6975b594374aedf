import { describe, expect, it } from "vitest";
import type { Download } from "../../../cri/containerd-content.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createPullProgress } from "./pull-progress.ts";

const MB = 1_000_000;

/** Pulls that run until `end` is called, and what is told of them. */
function createRig(listDownloads?: () => Promise<readonly Download[]>) {
  const clock = createFakeClock();
  const progress = createPullProgress({ clock, listDownloads });
  const told: string[] = [];
  const pull = () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const done = progress.during(
      async () => await ended,
      (text) => told.push(text),
    );
    return async () => {
      end();
      await done;
    };
  };
  return { clock, pull, told };
}

/** A layer that is loaded at a steady pace from the first reading on. */
const layer = (ref: string, doneMb: number, totalMb: number): Download => ({
  ref,
  bytesDone: doneMb * MB,
  bytesTotal: totalMb * MB,
});

describe("the progress of a pull", () => {
  it("is told each half minute, with what is done and known, and its pace", async () => {
    const { clock, pull, told } = createRig(async () => [layer("layer-a", clock.monotonic() / 1000, 300)]);
    const end = pull();
    await clock.advance(29_000);
    expect(told).toEqual([]);
    await clock.advance(61_000);
    expect(told).toEqual([
      "30.0MB of 300.0MB after 30s, 1.0MB/s",
      "60.0MB of 300.0MB after 60s, 1.0MB/s",
      "90.0MB of 300.0MB after 90s, 1.0MB/s",
    ]);
    await end();
    await clock.advance(600_000);
    expect(told).toHaveLength(3);
  });

  it("counts what has come as a whole, and not what an earlier pull left behind", async () => {
    let reading = 0;
    const { clock, pull, told } = createRig(async () => {
      reading += 1;
      const left = layer("layer-left", 5, 500);
      return reading < 5 ? [left, layer("layer-a", reading, 10)] : [left, layer("layer-b", reading, 100)];
    });
    const end = pull();
    await clock.advance(30_000);
    expect(told).toEqual(["25.0MB of 110.0MB after 30s, 833.3kB/s"]);
    await end();
  });

  it("names how many pulls share the bytes, because nobody knows whose they are", async () => {
    const { clock, pull, told } = createRig(async () => [layer("layer-a", clock.monotonic() / 1000, 300)]);
    const ends = [pull(), pull()];
    await clock.advance(30_000);
    expect(told).toEqual(Array(2).fill("30.0MB of 300.0MB after 30s, 1.0MB/s, all 2 pulls together"));
    for (const end of ends) await end();
  });

  it.each([
    ["tells nothing", undefined],
    ["knows of no download", async () => []],
    ["fails", async () => await Promise.reject(new Error("unimplemented"))],
    ["names downloads that do not move", async () => [layer("layer-a", 1, 2)]],
  ])("is the time alone where the runtime %s", async (_what, listDownloads) => {
    const { clock, pull, told } = createRig(listDownloads);
    const end = pull();
    await clock.advance(60_000);
    expect(told).toEqual(["after 30s", "after 60s"]);
    await end();
  });

  it("begins anew with the next pull", async () => {
    const { clock, pull, told } = createRig(async () => [layer("layer-a", clock.monotonic() / 1000, 300)]);
    await pull()();
    await clock.advance(100_000);
    const end = pull();
    await clock.advance(30_000);
    expect(told).toEqual([expect.stringMatching(/^130.0MB of 300.0MB after 30s/)]);
    await end();
  });

  it("ends no pull where nobody can be told", async () => {
    const clock = createFakeClock();
    let end = () => {};
    const ended = new Promise<string>((resolve) => {
      end = () => resolve("pulled");
    });
    const pulled = createPullProgress({ clock, listDownloads: undefined }).during(
      async () => await ended,
      () => {
        throw new Error("nobody hears");
      },
    );
    await clock.advance(60_000);
    end();
    expect(await pulled).toBe("pulled");
  });

  it("fails as the pull does", async () => {
    const { progress } = { progress: createPullProgress({ clock: createFakeClock(), listDownloads: undefined }) };
    const failing = progress.during(
      async () => await Promise.reject(new Error("no such image")),
      () => undefined,
    );
    await expect(failing).rejects.toThrow("no such image");
  });
});
