import { expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createFakeMachine } from "../../../host/fake/fake-machine.ts";
import { statusInput } from "./__fixtures__/status-input.ts";
import { createNodeStatusReader, type NodeStatusReaderDeps } from "./node-status-reader.ts";

const { machine: _, ...settings } = statusInput({ nodeIps: ["192.0.2.11"], maxPods: 7 });

function setUp(changes: Partial<NodeStatusReaderDeps> = {}) {
  const machine = createFakeMachine();
  const runtime = { name: "containerd", version: "2.0.0", handlers: [], features: undefined };
  const errors: string[] = [];
  const deps: NodeStatusReaderDeps = {
    machine,
    log: silentLog,
    runtime: () => runtime,
    images: () => undefined,
    errors: () => errors,
    pressure: () => ({ memory: false, disk: false, pid: false }),
    volumes: async () => undefined,
  };
  return {
    machine,
    errors,
    reader: createNodeStatusReader({ ...deps, ...changes }, { settings, rootDirectory: "/r" }),
  };
}

it("gathers what the machine is, what the configuration says and what is true now", async () => {
  const { machine, errors, reader } = setUp();
  errors.push("down");
  expect(await reader.read()).toMatchObject({
    maxPods: 7,
    nodeIps: ["192.0.2.11"],
    machine: { cpuCount: 2, memoryBytes: 8n * 1024n ** 3n, swapBytes: 0n, ephemeralStorageBytes: 100n * 1024n ** 3n },
    machineAddresses: ["192.0.2.10"],
    interfaceAddresses: machine.facts.interfaceAddresses,
    runtime: { name: "containerd" },
    errors: ["down"],
    pressure: { memory: false, disk: false, pid: false },
    volumesInUse: undefined,
    volumesAttached: undefined,
  });
});

it("asks who measures pressure and who knows the volumes", async () => {
  const pressure = { memory: true, disk: false, pid: true };
  const volumes = { volumesInUse: ["v"], volumesAttached: [{ name: "v", devicePath: "" }] };
  const { reader } = setUp({ pressure: () => pressure, volumes: async () => volumes });
  expect(await reader.read()).toMatchObject({ pressure, ...volumes });
});

it("reads the machine once, and its addresses anew", async () => {
  const { machine, reader } = setUp();
  await reader.read();
  Object.assign(machine.facts, { cpuCount: 64, nodeAddresses: ["192.0.2.99"] });
  expect(await reader.read()).toMatchObject({ machine: { cpuCount: 2 }, machineAddresses: ["192.0.2.99"] });
});

it("measures storage again until it can be measured", async () => {
  const { machine, reader } = setUp();
  const { fileSystem } = machine.facts;
  machine.facts.fileSystem = undefined;
  expect((await reader.read()).machine.ephemeralStorageBytes).toBeUndefined();
  machine.facts.fileSystem = fileSystem;
  expect((await reader.read()).machine.ephemeralStorageBytes).toBe(fileSystem?.sizeBytes);
});

it("does without what cannot be read of swap and huge pages", async () => {
  const fails = async () => Promise.reject(new Error("no"));
  const { reader } = setUp({ machine: { ...createFakeMachine(), swapCapacityBytes: fails, hugepages: fails } });
  expect((await reader.read()).machine).toMatchObject({ swapBytes: 0n, hugepages: [], cpuCount: 2 });
});
