import type { CsiPlugin } from "../csi-plugin.ts";
import type { CsiPluginOptions } from "../csi-ports.ts";
import type { CsiRig } from "./csi-rig.ts";

/** One run of a node agent, which dies between two effects: from then on nothing that it does has any, and nothing ends. */
export interface MortalAgent {
  readonly plugin: CsiPlugin;
  readonly isDead: () => boolean;
  /** How often it could have died so far. */
  readonly steps: () => number;
  kill(): void;
  /** Settles as the task does, or resolves with `dead` as soon as the agent is. */
  survive<T>(task: Promise<T>): Promise<T | "dead">;
}

/** `diesAt`: the step (from 1) at which it dies; odd ones are before an effect, even ones right after it. */
export function createMortalAgent(
  rig: CsiRig,
  diesAt = Number.POSITIVE_INFINITY,
  options: Partial<CsiPluginOptions> = {},
): MortalAgent {
  let steps = 0;
  let isDead = false;
  let onDeath = (): void => undefined;
  const death = new Promise<"dead">((resolve) => {
    onDeath = () => resolve("dead");
  });
  const kill = () => {
    isDead = true;
    onDeath();
  };
  const pass = async () => {
    if (!isDead && ++steps === diesAt) kill();
    if (isDead) await new Promise<never>(() => undefined);
  };
  const mortal = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const member: unknown = Reflect.get(object, name);
        if (typeof member !== "function") return member;
        return async (...parameters: unknown[]): Promise<unknown> => {
          await pass();
          const result: unknown = await Reflect.apply(member, object, parameters);
          await pass();
          return result;
        };
      },
    });
  const { drivers, files, mounts, objects, inUse } = rig.deps;
  const plugin = rig.plugin(options, {
    files: mortal(files),
    mounts: mortal(mounts),
    objects: mortal(objects),
    inUse: mortal(inUse),
    drivers: {
      get(name) {
        const driver = drivers.get(name);
        return driver && { ...driver, node: mortal(driver.node) };
      },
    },
  });
  return {
    plugin,
    isDead: () => isDead,
    steps: () => steps,
    kill,
    survive: async (task) => {
      // What it still says after its death nobody hears.
      task.catch(() => undefined);
      return await Promise.race([death, task]);
    },
  };
}
