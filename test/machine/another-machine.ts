import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { runName } from "./run-directory.ts";

/** A machine beside this one, on a network of the two alone: programs that run there come from outside. */
interface AnotherMachine {
  run(program: string, ...args: string[]): Promise<string>;
  remove(): Promise<void>;
}

const [HERE, THERE] = ["198.18.63.1", "198.18.63.2"];

/** Makes it. It reaches all addresses of this machine. */
export async function createAnotherMachine(): Promise<AnotherMachine> {
  const name = `${runName()}-${process.pid}`;
  const [near, far] = [`near${process.pid}`, `far${process.pid}`];
  const ip = async (...args: string[]) => await runCommand("ip", args);
  const there = async (...args: string[]) => await ip("-n", name, ...args);
  const remove = async () => {
    await ip("link", "delete", near).catch(() => undefined);
    await ip("netns", "delete", name).catch(() => undefined);
  };
  try {
    await ip("netns", "add", name);
    await ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", name);
    await ip("address", "add", `${HERE}/30`, "dev", near);
    await ip("link", "set", near, "up");
    await there("address", "add", `${THERE}/30`, "dev", far);
    await there("link", "set", far, "up");
    await there("route", "add", "default", "via", HERE);
  } catch (error) {
    await remove();
    throw error;
  }
  return { run: async (program, ...args) => await ip("netns", "exec", name, program, ...args), remove };
}
