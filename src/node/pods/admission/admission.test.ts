import { describe, expect, it } from "vitest";
import type { Container, Pod, Volume, VolumeMount } from "../../../api/gen/types.ts";
import { createAppArmorHandler } from "./app-armor.ts";
import { createDeclaredFeaturesHandler } from "./declared-features.ts";
import { createNodeAdmission } from "./node-admission.ts";
import { createAdmission } from "./pod-rejection.ts";
import { createSysctlHandler } from "./sysctls.ts";
import { rejectUnsupported } from "./unsupported.ts";

type Spec = NonNullable<Pod["spec"]>;
const PROBE = { exec: { command: ["true"] } };

function makePod(spec: Partial<Spec> = {}): Pod {
  return {
    metadata: { uid: "uid-1", name: "web", namespace: "default" },
    spec: { containers: [{ name: "main" }], ...spec },
  };
}
const withContainer = (container: Partial<Container>) => makePod({ containers: [{ name: "main", ...container }] });
const withVolume = (volume: Partial<Volume>) => makePod({ volumes: [{ name: "data", ...volume }] });

describe("what this version cannot do is refused by the name of its field", () => {
  it.each<[string, Pod]>([
    ["spec.volumes[0].tape", withVolume(JSON.parse('{"tape":{}}'))],
    ["spec.volumes[0].emptyDir", withVolume({})],
    ["spec.volumes[0].emptyDir.medium", withVolume({ emptyDir: { medium: "Tape" } })],
    ["spec.volumes[0].emptyDir.medium", withVolume({ emptyDir: { medium: "HugePagesX" } })],
  ])("%s", (field, pod) => {
    const message = `Pod uses what this version of nodelet does not support yet: ${field}`;
    expect(rejectUnsupported(pod)).toEqual({ reason: "UnsupportedFeature", message });
  });

  it("all of it at once", () => {
    const pod = makePod({
      volumes: [
        { name: "data", emptyDir: { medium: "Cards" } },
        { name: "tape", emptyDir: { medium: "Tape" } },
      ],
    });
    expect(rejectUnsupported(pod)?.message).toContain(
      "spec.volumes[0].emptyDir.medium; spec.volumes[1].emptyDir.medium",
    );
  });

  it.each<[string, Pod]>([
    ["nothing special", makePod()],
    ["device claims", makePod({ resourceClaims: [{ name: "gpu", resourceClaimName: "gpu" }] })],
    [
      "volumes on the node",
      makePod({
        volumes: [
          { name: "a", hostPath: { path: "/x" } },
          { name: "b", emptyDir: {} },
        ],
      }),
    ],
    ["a volume in memory", withVolume({ emptyDir: { medium: "Memory" } })],
    ["a variable of a file", withEnv("fileKeyRef", { volumeName: "v", path: "p", key: "k" })],
    ["keys of secrets and config maps", withEnv("secretKeyRef", { name: "s", key: "k" })],
    ["all of a config map", withContainer({ envFrom: [{ configMapRef: { name: "s" } }] })],
    ["huge pages", withVolume({ emptyDir: { medium: "HugePages" } })],
    ["huge pages of a size", withVolume({ emptyDir: { medium: "HugePages-2Mi" } })],
    ["a claim", withVolume({ persistentVolumeClaim: { claimName: "x" } })],
    ["a claim of its own", withVolume({ ephemeral: {} })],
    ["a storage driver's volume", withVolume({ csi: { driver: "x" } })],
    ["a disk of an iSCSI target", withVolume({ iscsi: { targetPortal: "x", iqn: "x", lun: 0 } })],
    ["a disk of Fibre Channel", withVolume({ fc: { wwids: ["x"] } })],
    ["a server's export", withVolume({ nfs: { server: "x", path: "/" } })],
    ["an image as a volume", withVolume({ image: { reference: "x" } })],
    ["a part of a volume", withMount({ subPath: "x" })],
    ["a part named by a variable", withMount({ subPathExpr: "$(X)" })],
    ["all of a mount read-only", withMount({ readOnly: true, recursiveReadOnly: "Enabled" })],
    ["a block device", withContainer({ volumeDevices: [{ name: "d", devicePath: "/dev/x" }] })],
    ["a config map as a volume", withVolume({ configMap: { name: "x" } })],
    ["a secret as a volume", withVolume({ secret: { secretName: "x" } })],
    ["fields as a volume", withVolume({ downwardAPI: {} })],
    ["several of them as one volume", withVolume({ projected: { sources: [] } })],
    ["a runtime class", makePod({ runtimeClassName: "gvisor" })],
    ["users of its own", makePod({ hostUsers: false })],
    ["its full name as the hostname", makePod({ setHostnameAsFQDN: true })],
    ["the downward API", withEnv("fieldRef", { fieldPath: "metadata.name" })],
    ["host users", makePod({ hostUsers: true })],
    ["probes", withContainer({ livenessProbe: PROBE })],
  ])("but not %s", (_name, pod) => {
    expect(rejectUnsupported(pod)).toBeUndefined();
  });
});

function withEnv(source: string, value: object): Pod {
  return withContainer({ env: [{ name: "A", valueFrom: { [source]: value } }] });
}

function withMount(mount: Partial<VolumeMount>): Pod {
  return withContainer({ volumeMounts: [{ name: "d", mountPath: "/d", ...mount }] });
}

function withInit(container: Partial<Container>): Pod {
  return makePod({ initContainers: [{ name: "init", ...container }] });
}

describe("sysctls", () => {
  const allowed = ["net.core.*", "kernel.msg*", "net/ipv4/conf/eth0.1/rp_filter"];
  const judge = (name: string, spec: Partial<Spec> = {}) =>
    createSysctlHandler(allowed)(makePod({ ...spec, securityContext: { sysctls: [{ name, value: "1" }] } }))?.message;

  it.each([
    ["net.ipv4.tcp_syncookies", {}],
    ["net/ipv4/tcp_syncookies", {}],
    ["net.core.somaxconn", {}],
    ["kernel.msgmax", {}],
    ["net.ipv4.conf.eth0/1.rp_filter", {}],
    ["kernel.shm_rmid_forced", { hostNetwork: true }],
    ["net.core.somaxconn", { hostIPC: true }],
  ])("%s is let in (%o)", (name, spec) => {
    expect(judge(name, spec)).toBeUndefined();
  });

  it.each([
    ["kernel.panic", {}, 'forbidden sysctl: "kernel.panic" not allowlisted'],
    ["net.ipv4.ip_forward", {}, 'forbidden sysctl: "net.ipv4.ip_forward" not allowlisted'],
    ["net.corex", {}, 'forbidden sysctl: "net.corex" not allowlisted'],
    [
      "net.core.somaxconn",
      { hostNetwork: true },
      'forbidden sysctl: "net.core.somaxconn" not allowed with host net enabled',
    ],
    ["kernel.msgmax", { hostIPC: true }, 'forbidden sysctl: "kernel.msgmax" not allowed with host ipc enabled'],
    [
      "kernel.shm_rmid_forced",
      { hostIPC: true },
      'forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host ipc enabled',
    ],
  ])("%s is refused (%o)", (name, spec, message) => {
    expect(judge(name, spec)).toBe(message);
  });
});

describe("AppArmor", () => {
  const annotated = (value: string): Pod => ({
    ...makePod(),
    metadata: { uid: "u", annotations: { "container.apparmor.security.beta.kubernetes.io/main": value } },
  });
  const profile = (type: string) => ({ securityContext: { appArmorProfile: { type } } });
  const message = "Cannot enforce AppArmor: AppArmor is not enabled on the host";

  it.each<[string, Pod, boolean]>([
    ["a pod that wants none", makePod(), true],
    ["a pod's profile", makePod(profile("RuntimeDefault")), false],
    ["a container's profile", withContainer(profile("Localhost")), false],
    ["an init container's profile", withInit(profile("RuntimeDefault")), false],
    ["none, in words", withContainer(profile("Unconfined")), true],
    ["an annotation", annotated("runtime/default"), false],
    ["an annotation for none", annotated("unconfined"), true],
    ["what runs already", { ...withContainer(profile("Localhost")), status: { phase: "Running" } }, true],
  ])("where the host has none: %s", (_what, pod, isAdmitted) => {
    const refused = { reason: "AppArmor", message };
    expect(createAppArmorHandler(false)(pod)).toEqual(isAdmitted ? undefined : refused);
    expect(createAppArmorHandler(true)(pod)).toBeUndefined();
  });
});

describe("declared features", () => {
  const wanting = makePod({ hostNetwork: true, hostUsers: false });
  const restarting = withContainer({
    restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [1] } }],
  });
  const refused = (...names: string[]) => ({
    reason: "PodFeatureUnsupported",
    message: `Pod requires node features that are not available: ${names.join(", ")}`,
  });
  const [users, restarts] = ["UserNamespacesHostNetworkSupport", "RestartAllContainersOnContainerExits"] as const;
  it.each<[string, Pod, string[] | undefined, ReturnType<typeof refused> | undefined]>([
    ["nothing is required", makePod(), [], undefined],
    ["what is required is declared", wanting, ["Another", users], undefined],
    ["what is required is not declared", wanting, ["Another"], refused(users)],
    ["nodes declare nothing", wanting, undefined, undefined],
    ["it runs already", { ...wanting, status: { phase: "Running" } }, [], undefined],
  ])("where %s", (_what, pod, declared, expected) => {
    expect(createDeclaredFeaturesHandler(declared && (() => declared))(pod)).toEqual(expected);
  });

  it("are asked for where the node declares its own", () => {
    const admit = (declaredFeatures?: () => string[]) =>
      createNodeAdmission({}, { allowedUnsafeSysctls: [], declaredFeatures })(restarting);
    expect(admit(() => [])).toEqual(refused(restarts));
    expect(admit()).toBeUndefined();
  });
});

it("the first rule that refuses decides, and the later ones are not asked", () => {
  const asked: string[] = [];
  const rule = (name: string, refuses: boolean) => () => {
    asked.push(name);
    return refuses ? { reason: name, message: "" } : undefined;
  };
  const admit = createAdmission([rule("a", false), rule("b", true), rule("c", true)]);
  expect(admit(makePod())?.reason).toBe("b");
  expect(asked).toEqual(["a", "b"]);
  expect(createAdmission([])(makePod())).toBeUndefined();
});

describe("volumes", () => {
  const findRefusedVolume = ({ name, gitRepo, flocker }: Volume) =>
    gitRepo || flocker ? `volume "${name}": no longer there` : undefined;
  const admit = createNodeAdmission({ findRefusedVolume }, { allowedUnsafeSysctls: [] });
  const gitRepo = { repository: "https://example.com" };

  it("of kinds that are never brought are refused all at once, with the reason of each", () => {
    const volumes = [
      { name: "a", gitRepo },
      { name: "b", emptyDir: {} },
      { name: "c", flocker: {} },
    ];
    const message = 'volume "a": no longer there; volume "c": no longer there';
    expect(admit(makePod({ volumes }))).toEqual({ reason: "UnsupportedFeature", message });
    expect(admit(withVolume({ emptyDir: {} }))).toBeUndefined();
  });
});
