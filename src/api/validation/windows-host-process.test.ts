import { expect, test } from "vitest";
import { formatFieldError } from "../field-error.ts";
import type { PodSpec } from "../gen/types.ts";
import { validateHostProcess } from "./windows-host-process.ts";

const onHost = (hostProcess: boolean | undefined) => {
  return hostProcess === undefined ? {} : { securityContext: { windowsOptions: { hostProcess } } };
};
const spec = (
  pod: boolean | undefined,
  containers: ReadonlyArray<boolean | undefined>,
  hostNetwork = true,
): PodSpec => ({
  hostNetwork,
  ...onHost(pod),
  containers: containers.map((own, index) => ({ name: `c${index}`, image: "i", ...onHost(own) })),
});

const ALL = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
const NETWORK = "hostNetwork must be true if pod contains any hostProcess containers";
const SAME = "pod hostProcess value must be identical if both are specified, was";
const OWN = "securityContext.windowsOptions.hostProcess";

test.each<[string, PodSpec, string[]]>([
  ["nobody", spec(undefined, [undefined, false], false), []],
  ["all, as the pod says", spec(true, [undefined, true]), []],
  ["all, as they say", spec(undefined, [true, true]), []],
  ["some", spec(undefined, [true, undefined]), [`spec: Invalid value: "": ${ALL}`]],
  [
    "all without the host's network",
    spec(true, [undefined], false),
    [`spec.hostNetwork: Invalid value: false: ${NETWORK}`],
  ],
  [
    "all but one that says otherwise",
    spec(true, [undefined, false]),
    [`spec.containers[1].${OWN}: Invalid value: false: ${SAME} true`, `spec: Invalid value: "": ${ALL}`],
  ],
  [
    "an init container beside others",
    { ...spec(undefined, [undefined]), initContainers: [{ name: "i", image: "i", ...onHost(true) }] },
    [`spec: Invalid value: "": ${ALL}`],
  ],
])("on the host is %s", (_who, pod, problems) => {
  expect(validateHostProcess("spec", pod).map(formatFieldError)).toEqual(problems);
});
