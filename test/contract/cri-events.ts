import { describe, expect, it } from "vitest";
import type { RuntimeEvent } from "../../src/cri/container-events.ts";
import { ContainerState } from "../../src/cri/gen/cri-v1.ts";
import type { Driver } from "./cri-driver.ts";

/** Hints from whatever source of events the runtime has. */
export function describeEvents(current: () => Driver): void {
  describe("container events", () => {
    it("tell what became of a container", async () => {
      await listening(current(), async ({ driver, kindsOf }) => {
        const { id } = await driver.run("sleep 0.2");
        await driver.untilExited(id);
        await driver.eventually("its end was reported", () => kindsOf(id).includes("stopped"));
        await driver.runtime.settled(driver.runtime.cri.runtime.removeContainer({ containerId: id }));
        await driver.eventually("its removal was reported", () => kindsOf(id).includes("deleted"));
        expect(kindsOf(id)).toEqual(["created", "started", "stopped", "deleted"]);
      });
    });

    it("come when the status says the same", async () => {
      await listening(current(), async ({ driver, onEvent, kindsOf }) => {
        const states: unknown[] = [];
        onEvent(async ({ kind, containerId }) => {
          if (kind === "stopped") states.push((await driver.status(containerId)).state);
        });
        const { id } = await driver.run("sleep 0.3; exit 1");
        await driver.eventually("its end was reported", () => kindsOf(id).includes("stopped") && states.length > 0);
        expect(states).toEqual([ContainerState.CONTAINER_EXITED]);
      });
    });

    it("do not mistake the end of an exec for the end of the container", async () => {
      await listening(current(), async ({ driver, kindsOf }) => {
        // It ends by itself: who stops a container knows of its end by the answer.
        const { id } = await driver.run("sleep 5");
        const { runtime } = driver.runtime.cri;
        await driver.runtime.settled(runtime.execSync({ containerId: id, cmd: ["true"], timeout: 5n }));
        await driver.eventually("its end was reported", () => kindsOf(id).includes("stopped"));
        await driver.runtime.wait(300);
        expect(kindsOf(id)).toEqual(["created", "started", "stopped"]);
      });
    });

    it("say when they broke off, and go on after the runtime restarted", async () => {
      await listening(current(), async ({ driver, connections, kindsOf }) => {
        await driver.runtime.restart();
        await driver.eventually("they are connected again", () => connections.length >= 3);
        expect(connections).toEqual([true, false, true]);
        const { id } = await driver.run("exit 0");
        await driver.eventually("its end was reported", () => kindsOf(id).includes("stopped"));
      });
    });
  });
}

interface Listener {
  driver: Driver;
  connections: boolean[];
  kindsOf(id: string): string[];
  onEvent(listener: (event: RuntimeEvent) => Promise<void>): void;
}

async function listening(driver: Driver, act: (listener: Listener) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const events: RuntimeEvent[] = [];
  const connections: boolean[] = [];
  let listener: ((event: RuntimeEvent) => Promise<void>) | undefined;
  const following = (async () => {
    const stream = driver.runtime.events.subscribe(controller.signal, (connected) => connections.push(connected));
    for await (const event of stream) {
      events.push(event);
      await listener?.(event);
    }
  })();
  try {
    await driver.eventually("events are connected", () => connections.length > 0);
    await act({
      driver,
      connections,
      kindsOf: (id) => events.filter(({ containerId }) => containerId === id).map(({ kind }) => kind),
      onEvent: (added) => {
        listener = added;
      },
    });
  } finally {
    controller.abort();
    await following;
  }
}
