import { expect, it } from "vitest";
import { findMend } from "./find-mend.ts";

it.each<[string, string, string, RegExp]>([
  [
    "a webhook that is not reached",
    "FailedCreate",
    'Error creating: Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://127.0.0.1:9/x": dial tcp 127.0.0.1:9: connect: connection refused',
    /^The webhook w\.example\.com does not answer.*failurePolicy: Ignore/,
  ],
  [
    "a webhook that refuses",
    "FailedCreate",
    'admission webhook "w.example.com" denied the request: not found',
    /^The webhook w\.example\.com refuses the pod/,
  ],
  [
    "a probe that does not reach its port",
    "Unhealthy",
    'Readiness probe failed: Get "http://10.0.0.2:8080/ready": dial tcp 10.0.0.2:8080: connect: connection refused',
    /^See what the program answers, and whether the readiness probe/,
  ],
  [
    "a service account that is not there",
    "FailedCreate",
    'pods "a-b" is forbidden: error looking up service account shop/robot: serviceaccount "robot" not found',
    /^Make it: kubectl create serviceaccount -n shop robot/,
  ],
  [
    "the level of a namespace",
    "FailedCreate",
    'pods "a" is forbidden: violates PodSecurity "restricted:latest": privileged (…), runAsNonRoot != true (…)',
    /let the namespace take more than restricted: kubectl label --overwrite namespace shop /,
  ],
  ["a quota", "FailedCreate", 'pods "a" is forbidden: exceeded quota: few', /kubectl describe quota -n shop\.$/],
  [
    "a quota of what the pod does not ask for",
    "FailedCreate",
    'pods "a" is forbidden: failed quota: cpu: must specify limits.cpu for: main; requests.cpu for: main',
    /give the containers limits\.cpu/,
  ],
  [
    "an image's name that is none",
    "ImagePullBackOff",
    'Back-off pulling image "UPPER": failed to parse image reference "UPPER": invalid reference format',
    /cannot be parsed/,
  ],
  [
    "a registry that does not answer",
    "Failed",
    'Failed to pull image "a.example/b": dial tcp 10.0.0.1:443: i/o timeout',
    /does not reach the registry/,
  ],
  [
    "a host path that is not there",
    "FailedMount",
    'MountVolume.SetUp failed for volume "v" : hostPath type check failed: /data is not a directory',
    /^Make \/data on the node/,
  ],
  ["a host path of no type", "FailedMount", "hostPath /data doesn't exist", /^Make \/data on the node/],
  [
    "a driver that is not there",
    "FailedMount",
    'volume mode "Ephemeral" not supported by driver a.example.com (no CSIDriver object)',
    /^Install the CSI driver a\.example\.com/,
  ],
  [
    "a file system that nothing mounts",
    "FailedMount",
    "mount ended with 32: unknown filesystem type 'nfs'.",
    /^Install what mounts nfs/,
  ],
])("the mend of %s is about that and nothing else", (_what, reason, message, mend) => {
  expect(findMend({ namespace: "shop", reason, message })).toMatch(mend);
});
