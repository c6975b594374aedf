import { expect, it } from "vitest";
import { computeFileOwner } from "./file-owner.ts";

const container = (runAsUser?: number) => ({
  name: "c",
  ...(runAsUser !== undefined && { securityContext: { runAsUser } }),
});

// pkg/volume/util/util.go, FsUserFrom.
it.each([
  ["nobody says", undefined, [container()], [], undefined],
  ["the pod says", 1000, [container(), container()], [], 1000],
  ["all containers say the same", undefined, [container(1000), container(1000)], [container(1000)], 1000],
  ["one container does not say", undefined, [container(1000), container()], [], undefined],
  ["containers differ", undefined, [container(1000), container(1001)], [], undefined],
  ["an init container differs", 1000, [container()], [container(0)], undefined],
  ["a container overrides the pod", 1000, [container(1001)], [], 1001],
  ["root", undefined, [container(0)], [], 0],
])("the user where %s", (_case, runAsUser, containers, initContainers, user) => {
  const securityContext = runAsUser === undefined ? {} : { runAsUser };
  expect(computeFileOwner({ spec: { securityContext, containers, initContainers } })).toEqual({
    user,
    group: undefined,
  });
});

it("the group is the pod's, and ephemeral containers have no say", () => {
  const spec = {
    securityContext: { fsGroup: 2000 },
    containers: [container(1000)],
    ephemeralContainers: [container(5)],
  };
  expect(computeFileOwner({ spec })).toEqual({ user: 1000, group: 2000 });
});
