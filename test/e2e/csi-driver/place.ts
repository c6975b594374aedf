import { join } from "node:path";
import { isRecord } from "../../../src/api/object.ts";

/** Where a driver lives. */
export interface Place {
  /** `csi.example.com` */
  name: string;
  /** The node agent's root directory, which the sockets are below. */
  rootDirectory: string;
  /** The driver's own: volumes, state, journal, control. */
  directory: string;
}

/** From the driver's argument. */
export function readPlace(text: string): Place {
  const place: unknown = JSON.parse(text);
  const { name, rootDirectory, directory } = isRecord(place) ? place : {};
  if (typeof name !== "string" || typeof rootDirectory !== "string" || typeof directory !== "string") {
    throw new TypeError(`usage: main.ts '{"name": …, "rootDirectory": …, "directory": …}', not ${text}`);
  }
  return { name, rootDirectory, directory };
}

/** The files of a driver; its sockets where drivers have theirs on a node. */
export function pathsOf({ name, rootDirectory, directory }: Place) {
  return {
    socket: join(rootDirectory, "plugins", name, "csi.sock"),
    registrationSocket: join(rootDirectory, "plugins_registry", `${name}-reg.sock`),
    volumes: join(directory, "volumes"),
    control: join(directory, "control.json"),
    state: join(directory, "state.json"),
    journal: join(directory, "calls.jsonl"),
    log: join(directory, "driver.log"),
  };
}
