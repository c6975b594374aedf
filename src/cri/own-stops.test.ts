import { expect, it } from "vitest";
import { StopContainerResponse, StopPodSandboxResponse } from "./gen/cri-v1.ts";
import { watchOwnStops } from "./own-stops.ts";

const NEVER = new AbortController().signal;

function watch() {
  const answers = new Map<string, PromiseWithResolvers>();
  const answerOf = async (id: string) => {
    const made = resolvers();
    answers.set(id, made);
    await made.promise;
  };
  const watched = watchOwnStops({
    async stopContainer({ containerId }: { containerId: string }) {
      await answerOf(containerId);
      return StopContainerResponse.fromPartial({});
    },
    async stopPodSandbox({ podSandboxId }: { podSandboxId: string }) {
      await answerOf(podSandboxId);
      return StopPodSandboxResponse.fromPartial({});
    },
  });
  return { ...watched, answers };
}

interface PromiseWithResolvers {
  promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

function resolvers(): PromiseWithResolvers {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}

it("waits for the stop that is under way, and knows it afterwards", async () => {
  const { runtime, stops, answers } = watch();
  const call = runtime.stopContainer({ containerId: "c" });
  let isOver: boolean | undefined;
  const asked = stops.isOver("c", NEVER).then((over) => {
    isOver = over;
  });
  await Promise.resolve();
  expect(isOver).toBeUndefined();
  answers.get("c")?.resolve();
  await Promise.all([call, asked]);
  expect(isOver).toBe(true);
  expect(await stops.isOver("c", NEVER)).toBe(true);
});

it("knows the stop of a sandbox, and nothing of what ended by itself", async () => {
  const { runtime, stops, answers } = watch();
  const call = runtime.stopPodSandbox({ podSandboxId: "s" });
  answers.get("s")?.resolve();
  await call;
  expect(await stops.isOver("s", NEVER)).toBe(true);
  expect(await stops.isOver("another", NEVER)).toBe(false);
});

it("does not count a stop that failed, and leaves its failure to the caller", async () => {
  const { runtime, stops, answers } = watch();
  const call = runtime.stopContainer({ containerId: "c" });
  answers.get("c")?.reject(new Error("no answer in time"));
  await expect(call).rejects.toThrow("no answer in time");
  expect(await stops.isOver("c", NEVER)).toBe(false);
});

it("lets go when nobody needs to know any more", async () => {
  const { runtime, stops, answers } = watch();
  const call = runtime.stopContainer({ containerId: "c" });
  const controller = new AbortController();
  const asked = stops.isOver("c", controller.signal);
  controller.abort();
  await expect(asked).rejects.toThrow();
  answers.get("c")?.resolve();
  await call;
});
