import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../../api/field-error.ts";
import type { Container, Pod, PodSpec, PodStatus } from "../../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import { podKind } from "./pod.ts";

const MAIN: Container = { name: "main", image: "busybox:1" };

function stored(spec: Partial<PodSpec> = {}, { metadata, status }: Partial<Pod> = {}): KubeObject {
  const made: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", namespace: "default", uid: "u", resourceVersion: "5", ...metadata },
    spec: { containers: [MAIN], ...spec },
    ...(status && { status }),
  };
  return podKind.strategy.default?.(untyped(made)) ?? untyped(made);
}

function part(name: string) {
  const found = podKind.subresources.find((subresource) => subresource.name === name);
  if (!found?.take || !found.validateUpdate) throw new Error(`no ${name}`);
  return { take: found.take, validateUpdate: found.validateUpdate };
}

const show = (errors: Parameters<typeof formatFieldError>[0][]) => errors.map(formatFieldError);

describe("the status of a pod", () => {
  const { take, validateUpdate } = part("status");
  const ended = (exitCode: number) => ({
    name: "main",
    image: "",
    imageID: "",
    ready: false,
    restartCount: 0,
    state: { terminated: { exitCode } },
  });
  const running = { ...ended(0), state: { running: {} } };

  it("keeps the spec, the owners and what a kubelet does not know", () => {
    const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" };
    const current = stored(
      { nodeName: "n" },
      {
        metadata: { ownerReferences: [owner] },
        status: {
          qosClass: "BestEffort",
          observedGeneration: 3,
          conditions: [{ type: "Ready", status: "False", observedGeneration: 2 }],
        },
      },
    );
    const sent = stored(
      { nodeName: "m" },
      {
        metadata: { labels: { a: "b" } },
        status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
      },
    );
    const taken = typed("Pod", take(sent, current));
    expect(taken.spec).toEqual(current["spec"]);
    expect(taken.metadata).toMatchObject({ ownerReferences: [owner], labels: { a: "b" } });
    expect(taken.status).toEqual({
      phase: "Running",
      qosClass: "BestEffort",
      observedGeneration: 3,
      conditions: [{ type: "Ready", status: "True", observedGeneration: 2 }],
    });
  });

  it.each<[string, Partial<PodSpec>, PodStatus, PodStatus, string[]]>([
    [
      "may revive a container that restarts",
      {},
      { containerStatuses: [ended(0)] },
      { containerStatuses: [running] },
      [],
    ],
    [
      "may not revive one that never does",
      { restartPolicy: "Never" },
      { containerStatuses: [ended(1)] },
      { containerStatuses: [running] },
      ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"],
    ],
    [
      "may revive one that failed",
      { restartPolicy: "OnFailure" },
      { containerStatuses: [ended(1)] },
      { containerStatuses: [running] },
      [],
    ],
    [
      "may not revive one that succeeded",
      { restartPolicy: "OnFailure" },
      { containerStatuses: [ended(0)] },
      { containerStatuses: [running] },
      ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"],
    ],
    [
      "may not revive an ephemeral container",
      {},
      { ephemeralContainerStatuses: [ended(1)] },
      { ephemeralContainerStatuses: [running] },
      ["status.ephemeralContainerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"],
    ],
    [
      "may revive a sidecar",
      { restartPolicy: "Never", initContainers: [{ ...MAIN, name: "side", restartPolicy: "Always" }] },
      { initContainerStatuses: [{ ...ended(0), name: "side" }] },
      { initContainerStatuses: [{ ...running, name: "side" }] },
      [],
    ],
    [
      "may not change the QoS class",
      {},
      { qosClass: "BestEffort" },
      { qosClass: "Guaranteed" },
      ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    ],
    [
      "has one address of a family",
      {},
      {},
      { podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] },
      [
        'status.podIPs: Invalid value: [{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]: may specify no more than one IP for each IP family',
      ],
    ],
    ["has addresses of both families", {}, {}, { podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] }, []],
    [
      "has good names for conditions",
      {},
      {},
      { conditions: [{ type: "a b", status: "True" }] },
      [
        "metadata.conditions[0].Type: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      "has claims that the pod has",
      {},
      {},
      { resourceClaimStatuses: [{ name: "c" }] },
      [
        'status.resourceClaimStatuses[0].name: Invalid value: "c": must match the name of an entry in `spec.resourceClaims`',
      ],
    ],
  ])("%s", (_name, spec, before, after, errors) => {
    expect(show(validateUpdate(stored(spec, { status: after }), stored(spec, { status: before })))).toEqual(errors);
  });
});

describe("ephemeral containers", () => {
  const { take, validateUpdate } = part("ephemeralcontainers");
  const DEBUG = { name: "debug", image: "busybox" };

  it("are all that is taken", () => {
    const current = stored({ nodeName: "n" }, { status: { phase: "Running" }, metadata: { labels: { a: "b" } } });
    const taken = typed("Pod", take(stored({ nodeName: "m", ephemeralContainers: [DEBUG] }), current));
    expect(taken.spec?.nodeName).toBe("n");
    expect(taken.spec?.ephemeralContainers).toMatchObject([DEBUG]);
    expect(taken).toMatchObject({
      status: { phase: "Running" },
      metadata: { labels: { a: "b" }, resourceVersion: "5" },
    });
  });

  it.each<[string, PodSpec["ephemeralContainers"], PodSpec["ephemeralContainers"], string[]]>([
    ["may be added", [], [DEBUG], []],
    ["may be in another order", [DEBUG, { ...DEBUG, name: "b" }], [{ ...DEBUG, name: "b" }, DEBUG], []],
    [
      "may not be removed",
      [DEBUG],
      [],
      ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n'],
    ],
    [
      "may not be changed",
      [DEBUG],
      [{ ...DEBUG, image: "other:1" }],
      [
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed\n- spec.ephemeralContainers[debug].image: "busybox"\n+ spec.ephemeralContainers[debug].image: "other:1"\n',
      ],
    ],
  ])("%s", (_name, before = [], after = [], errors) => {
    const same = (spec: PodSpec["ephemeralContainers"]) =>
      stored({ ephemeralContainers: (spec ?? []).map((entry) => ({ ...entry, imagePullPolicy: "Always" })) });
    expect(show(validateUpdate(same(after), same(before))).map((text) => `${text.trimEnd()}\n`)).toEqual(errors);
  });

  it("are not for static pods", () => {
    const mirror = stored({}, { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } });
    expect(show(validateUpdate(mirror, mirror))).toEqual([
      "Forbidden: static pods do not support ephemeral containers",
    ]);
  });
});

describe("resize", () => {
  const RESTART = [{ resourceName: "cpu", restartPolicy: "RestartContainer" }];
  const { take, validateUpdate } = part("resize");
  const sized = (cpu: string, memory = "64Mi", more: Partial<Container> = {}): Partial<PodSpec> => ({
    containers: [{ ...MAIN, resources: { requests: { cpu, memory } }, ...more }],
  });
  const resize = (before: Partial<PodSpec>, after: Partial<PodSpec>, status: PodStatus = {}) => {
    const current = stored(before, { status });
    const next = take(stored(after), current);
    return show(validateUpdate(next, current));
  };

  it("takes resources and resize policies alone", () => {
    const resizePolicy = [{ resourceName: "cpu", restartPolicy: "NotRequired" }];
    const next = stored(sized("2", "64Mi", { resizePolicy, image: "other:1", args: ["x"] }));
    const [container] = typed("Pod", take(next, stored(sized("1")))).spec?.containers ?? [];
    expect(container).toMatchObject({ image: "busybox:1", resizePolicy, resources: { requests: { cpu: "2" } } });
    expect(container?.args).toBeUndefined();
  });

  it.each<[string, Partial<PodSpec>, Partial<PodSpec>, PodStatus, string[]]>([
    ["may change CPU and memory", sized("1"), sized("2", "32Mi"), {}, []],
    [
      "may not change the QoS class",
      sized("1"),
      { containers: [{ ...MAIN, resources: { limits: { cpu: "1", memory: "64Mi" } } }] },
      { qosClass: "Burstable" },
      ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
    ],
    [
      "may not take a request away",
      sized("1"),
      { containers: [{ ...MAIN, resources: { requests: { cpu: "1" } } }] },
      {},
      ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"],
    ],
    [
      "may not change another resource",
      sized("1"),
      { containers: [{ ...MAIN, resources: { requests: { cpu: "1", memory: "64Mi", "ephemeral-storage": "1Gi" } } }] },
      {},
      ["spec: Forbidden: only cpu and memory resources are mutable"],
    ],
    [
      "may not add a container",
      sized("1"),
      { containers: [...(sized("1").containers ?? []), { ...MAIN, name: "b" }] },
      {},
      ["spec.containers: Forbidden: containers may not be added or removed on resize"],
    ],
    [
      "may not rename a container",
      sized("1"),
      sized("1", "64Mi", { name: "b" }),
      {},
      ["spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"],
    ],
    [
      "may change an init container",
      { ...sized("1"), initContainers: [{ ...MAIN, name: "i" }] },
      { ...sized("1"), initContainers: [{ ...MAIN, name: "i", resources: { requests: { cpu: "1" } } }] },
      {},
      [],
    ],
    [
      "may not change an init container that would be started anew for it",
      { ...sized("1"), initContainers: [{ ...MAIN, name: "i", resizePolicy: RESTART }] },
      {
        ...sized("1"),
        initContainers: [{ ...MAIN, name: "i", resizePolicy: RESTART, resources: { requests: { cpu: "1" } } }],
      },
      {},
      [
        "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
      ],
    ],
    [
      "may change a sidecar",
      { ...sized("1"), initContainers: [{ ...MAIN, name: "i", restartPolicy: "Always" }] },
      {
        ...sized("1"),
        initContainers: [{ ...MAIN, name: "i", restartPolicy: "Always", resources: { requests: { cpu: "1" } } }],
      },
      {},
      [],
    ],
    [
      "is not for nodes that cannot",
      sized("1"),
      sized("2"),
      {
        containerStatuses: [
          { name: "main", image: "", imageID: "", ready: true, restartCount: 0, state: { running: {} } },
        ],
      },
      ["spec: Forbidden: Pod running on node without support for resize"],
    ],
    [
      "may change CPU and memory of the pod as a whole",
      { ...sized("1"), resources: { requests: { cpu: "4" } } },
      { ...sized("1"), resources: { requests: { cpu: "5" }, limits: { memory: "1Gi" } } },
      {},
      [],
    ],
    [
      "may not take away what the pod has as a whole",
      { ...sized("1"), resources: { requests: { cpu: "4" } } },
      sized("1"),
      {},
      ["spec.resources: Forbidden: pod-level resources cannot be removed"],
    ],
    [
      "may not take an amount of the pod as a whole away, or change others",
      { ...sized("1"), resources: { requests: { cpu: "4" }, limits: { cpu: "4", "hugepages-2Mi": "2Mi" } } },
      { ...sized("1"), resources: { requests: { cpu: "4" }, limits: { "hugepages-2Mi": "4Mi" } } },
      {},
      [
        "spec.resources.limits: Forbidden: pod-level resource limits cannot be removed",
        "spec: Forbidden: only cpu and memory resources are mutable at pod-level",
      ],
    ],
  ])("%s", (_name, before, after, status, errors) => {
    expect(resize(before, after, status)).toEqual(errors);
  });
});
