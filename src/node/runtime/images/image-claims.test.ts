import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createImageClaims } from "./image-claims.ts";

const NEVER = new AbortController().signal;
const IMAGE = { id: "sha256:1", names: ["docker.io/library/web:latest", "docker.io/library/web@sha256:aa"] };
const MINUTE = 60_000;

function defer<T>() {
  let [resolve, reject]: [(value: T) => void, (error: Error) => void] = [() => undefined, () => undefined];
  const promise = new Promise<T>((...ends) => {
    [resolve, reject] = ends;
  });
  return { promise, resolve, reject };
}

function createRig() {
  const clock = createFakeClock();
  const claims = createImageClaims({ clock });
  const remove = async (removal = async () => await Promise.resolve()) => await claims.remove(IMAGE, removal);
  return { clock, claims, remove };
}

describe("an image", () => {
  it("stays for two minutes after a container was about to use it", async () => {
    const { clock, claims, remove } = createRig();
    expect(await claims.claim(IMAGE.id, NEVER)).toBe(true);
    expect([claims.claimedAt(IMAGE.id), claims.keptUntil(IMAGE.id)]).toEqual([0, 2 * MINUTE]);
    expect(await remove()).toBe(false);
    await clock.advance(2 * MINUTE);
    expect(await remove()).toBe(true);
  });

  it("is forgotten when nobody has wanted it for so long", async () => {
    const { clock, claims } = createRig();
    await claims.claim(IMAGE.id, NEVER);
    await clock.advance(2 * MINUTE);
    await claims.claim("sha256:2", NEVER);
    expect(claims.claimedAt(IMAGE.id)).toBeUndefined();
  });

  it.each(["web", "web:latest", "library/web:latest", "docker.io/library/web", IMAGE.names[1] ?? ""])(
    "stays while %s is being pulled",
    async (name) => {
      const { claims, remove } = createRig();
      const [pull, twice] = [defer<string>(), defer<string>()];
      const pulls = [pull, twice].map(async ({ promise }) => await claims.duringPull(name, async () => await promise));
      expect(await remove()).toBe(false);
      pull.resolve("pulled");
      expect(await pulls[0]).toBe("pulled");
      expect(await remove()).toBe(false);
      twice.reject(new Error("no"));
      await expect(pulls[1]).rejects.toThrow("no");
      expect(await remove()).toBe(true);
    },
  );

  it("goes while another is being pulled", async () => {
    const { claims, remove } = createRig();
    const pull = defer<void>();
    const pulled = claims.duringPull("b", async () => await pull.promise);
    expect(await remove()).toBe(true);
    pull.resolve();
    await pulled;
  });

  it.each([true, false])("is looked for again by who wants it while it is being removed; it was: %s", async (works) => {
    const { claims, remove } = createRig();
    const removal = defer<void>();
    const removed = remove(async () => await removal.promise).catch(() => "failed");
    const claim = claims.claim(IMAGE.id, NEVER);
    expect(await remove()).toBe(false);
    if (works) removal.resolve();
    else removal.reject(new Error("read-only file system"));
    expect([await removed, await claim]).toEqual([works ? true : "failed", false]);
    expect(await claims.claim(IMAGE.id, NEVER)).toBe(true);
  });

  it("is waited for no longer than who wants it lives", async () => {
    const { claims, remove } = createRig();
    const removal = defer<void>();
    const removed = remove(async () => await removal.promise);
    const controller = new AbortController();
    const claim = claims.claim(IMAGE.id, controller.signal);
    controller.abort();
    await expect(claim).rejects.toThrow("aborted");
    removal.resolve();
    await removed;
  });
});

it("the end of a pull is told, however it ends", async () => {
  const { claims } = createRig();
  let ends = 0;
  const stop = claims.onPullEnd(() => void ends++);
  await claims.duringPull("a", async () => await Promise.resolve());
  await claims.duringPull("a", async () => await Promise.reject(new Error("no"))).catch(() => undefined);
  stop();
  await claims.duringPull("a", async () => await Promise.resolve());
  expect(ends).toBe(2);
});
