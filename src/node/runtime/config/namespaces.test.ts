import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../api/gen/types.ts";
import { NamespaceMode } from "../../../cri/gen/cri-v1.ts";
import { buildNamespaceOptions, withProcessTarget } from "./namespaces.ts";

const { POD, CONTAINER, NODE, TARGET } = NamespaceMode;
const optionsOf = (spec: Partial<PodSpec>) => buildNamespaceOptions({ spec: { containers: [], ...spec } }, undefined);

describe("buildNamespaceOptions", () => {
  it.each<{ why: string; spec: Partial<PodSpec>; expected: object }>([
    { why: "the pod's own by default", spec: {}, expected: { network: POD, ipc: POD, pid: CONTAINER } },
    { why: "the host's network", spec: { hostNetwork: true }, expected: { network: NODE, ipc: POD, pid: CONTAINER } },
    { why: "the host's IPC", spec: { hostIPC: true }, expected: { network: POD, ipc: NODE, pid: CONTAINER } },
    { why: "the host's processes", spec: { hostPID: true }, expected: { network: POD, ipc: POD, pid: NODE } },
    { why: "shared processes", spec: { shareProcessNamespace: true }, expected: { network: POD, ipc: POD, pid: POD } },
  ])("$why", ({ spec, expected }) => {
    expect(optionsOf(spec)).toEqual({ ...expected, targetId: "", usernsOptions: undefined });
  });

  it("maps users where the pod has a range of its own", () => {
    const range = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
    const options = buildNamespaceOptions({ spec: { containers: [], hostUsers: false } }, { uids: range, gids: range });
    expect(options.usernsOptions).toEqual({ mode: POD, uids: range, gids: range });
  });
});

it.each<{ why: string; spec: Partial<PodSpec>; target: string | undefined; expected: object }>([
  { why: "a target is joined", spec: {}, target: "c1", expected: { pid: TARGET, targetId: "c1" } },
  { why: "no target", spec: {}, target: undefined, expected: { pid: CONTAINER, targetId: "" } },
  {
    why: "shared processes need none",
    spec: { shareProcessNamespace: true },
    target: "c1",
    expected: { pid: POD, targetId: "" },
  },
  {
    why: "the host's processes need none",
    spec: { hostPID: true },
    target: "c1",
    expected: { pid: NODE, targetId: "" },
  },
])("withProcessTarget: $why", ({ spec, target, expected }) => {
  expect(withProcessTarget(optionsOf(spec), target)).toMatchObject(expected);
});
