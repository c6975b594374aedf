import { describe, expect, it } from "vitest";
import {
  asDriverVolume,
  cloudDriverOf,
  driverOfProvisioner,
  inlineDriverVolumes,
  translateCloudVolume,
  translateInlineVolume,
} from "./cloud-volumes.ts";
import { csiVolumeReference } from "./csi-volumes.ts";
import type { ObjectMeta, PersistentVolume, PersistentVolumeSpec, Volume } from "./gen/types.ts";

const volumeOf = (spec: PersistentVolumeSpec, metadata: ObjectMeta = {}): PersistentVolume => ({
  metadata: { name: "pv-1", ...metadata },
  spec: { capacity: { storage: "1Gi" }, ...spec },
});

describe("a persistent volume of a cloud is one of its CSI driver", () => {
  const secret = { name: "s", namespace: "n" };
  it.each<[string, PersistentVolumeSpec, ObjectMeta, object]>([
    [
      "EBS",
      { awsElasticBlockStore: { volumeID: "aws://eu-1a/vol-0123/", partition: 2, readOnly: true, fsType: "xfs" } },
      {},
      {
        driver: "ebs.csi.aws.com",
        volumeHandle: "vol-0123",
        fsType: "xfs",
        readOnly: true,
        volumeAttributes: { partition: "2" },
      },
    ],
    [
      "EBS by its bare ID",
      { awsElasticBlockStore: { volumeID: "vol-9" } },
      {},
      { driver: "ebs.csi.aws.com", volumeHandle: "vol-9", volumeAttributes: { partition: "0" } },
    ],
    [
      "a disk of Azure",
      {
        azureDisk: { diskName: "d", diskURI: "/subscriptions/d", kind: "Managed", cachingMode: "None", fsType: "ext4" },
      },
      {},
      {
        driver: "disk.csi.azure.com",
        volumeHandle: "/subscriptions/d",
        fsType: "ext4",
        volumeAttributes: { kind: "managed", cachingmode: "None", fstype: "ext4" },
      },
    ],
    [
      "a share of Azure, in the claim's namespace",
      {
        azureFile: { secretName: "azure-storage-account-acc-secret", shareName: "sh" },
        claimRef: { namespace: "shop" },
      },
      { annotations: { "kubernetes.io/azure-file-resource-group": "rg" } },
      {
        driver: "file.csi.azure.com",
        volumeHandle: "rg#acc#sh#pv-1#shop",
        volumeAttributes: { sharename: "sh" },
        nodeStageSecretRef: { name: "azure-storage-account-acc-secret", namespace: "shop" },
      },
    ],
    [
      "Cinder",
      { cinder: { volumeID: "c-1", fsType: "ext4" } },
      {},
      { driver: "cinder.csi.openstack.org", volumeHandle: "c-1", fsType: "ext4", volumeAttributes: {} },
    ],
    [
      "a disk of Google's, anywhere",
      { gcePersistentDisk: { pdName: "d" } },
      {},
      {
        driver: "pd.csi.storage.gke.io",
        volumeHandle: "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d",
        volumeAttributes: { partition: "" },
      },
    ],
    [
      "a disk of Google's in a zone",
      { gcePersistentDisk: { pdName: "d", partition: 3 } },
      { labels: { "topology.kubernetes.io/zone": "europe-west1-b" } },
      {
        driver: "pd.csi.storage.gke.io",
        volumeHandle: "projects/UNSPECIFIED/zones/europe-west1-b/disks/d",
        volumeAttributes: { partition: "3" },
      },
    ],
    [
      "a disk of Google's in a region",
      { gcePersistentDisk: { pdName: "d" } },
      { labels: { "failure-domain.beta.kubernetes.io/zone": "europe-west1-b__europe-west1-c" } },
      {
        driver: "pd.csi.storage.gke.io",
        volumeHandle: "projects/UNSPECIFIED/regions/europe-west1/disks/d",
        volumeAttributes: { partition: "" },
      },
    ],
    [
      "Portworx, with its secrets",
      { portworxVolume: { volumeID: "p-1" } },
      { annotations: { "openstorage.io/auth-secret-name": "s", "openstorage.io/auth-secret-namespace": "n" } },
      {
        driver: "pxd.portworx.com",
        volumeHandle: "p-1",
        volumeAttributes: {},
        controllerExpandSecretRef: secret,
        controllerPublishSecretRef: secret,
        nodeExpandSecretRef: secret,
        nodePublishSecretRef: secret,
        nodeStageSecretRef: secret,
      },
    ],
    [
      "vSphere",
      { vsphereVolume: { volumePath: "[ds] a.vmdk", storagePolicyName: "gold" } },
      {},
      {
        driver: "csi.vsphere.vmware.com",
        volumeHandle: "[ds] a.vmdk",
        volumeAttributes: { storagepolicyname: "gold" },
      },
    ],
  ])("%s", (_name, spec, metadata, csi) => {
    const translated = translateCloudVolume(volumeOf(spec, metadata));
    const [kind = ""] = Object.keys(spec);
    expect(translated.spec).not.toHaveProperty(kind);
    expect(translated.spec).toMatchObject({ capacity: { storage: "1Gi" } });
    expect(translated.spec?.csi).toEqual(csi);
    expect(csiVolumeReference(volumeOf(spec, metadata))?.driver).toBe(cloudDriverOf(spec));
  });

  it.each<[PersistentVolumeSpec, ObjectMeta, RegExp]>([
    [{ awsElasticBlockStore: { volumeID: "aws://eu/disk" } }, {}, /Invalid format for AWS volume \(aws:\/\/eu\/disk\)/],
    [{ azureDisk: { diskName: "d", diskURI: "u", kind: "Shared" } }, {}, /^kind\(Shared\) is not supported/],
    [{ azureFile: { secretName: "s", shareName: "sh" } }, {}, /^could not find a secret namespace/],
    [
      { gcePersistentDisk: { pdName: "d" } },
      { labels: { "topology.kubernetes.io/zone": "europe-west1-b__asia-east1-a" } },
      /^failed to get region from zones/,
    ],
  ])("unless no driver serves it: %j", (spec, metadata, message) => {
    const volume = volumeOf(spec, metadata);
    expect(() => translateCloudVolume(volume)).toThrow(message);
    expect(asDriverVolume(volume)).toBe(volume);
    expect(csiVolumeReference(volume)).toBeUndefined();
  });

  it("and any other volume stays what it is", () => {
    const volume = volumeOf({ local: { path: "/x" } });
    expect(translateCloudVolume(volume)).toBe(volume);
    expect(cloudDriverOf({})).toBeUndefined();
  });

  it("writes from one node only, where the disk is Google's", () => {
    const modes = (accessModes: string[]) =>
      translateCloudVolume(volumeOf({ gcePersistentDisk: { pdName: "d" }, accessModes })).spec?.accessModes;
    expect(modes(["ReadWriteMany"])).toEqual(["ReadWriteOnce"]);
    expect(modes(["ReadOnlyMany", "ReadWriteOnce"])).toEqual(["ReadWriteOnce"]);
    expect(modes(["ReadOnlyMany"])).toEqual(["ReadOnlyMany"]);
  });
});

describe("where a volume is", () => {
  const affinity = (key: string, ...values: string[]) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "In", values }] }] },
  });
  const aws = { awsElasticBlockStore: { volumeID: "vol-1" } };
  const translated = (spec: PersistentVolumeSpec, labels: Record<string, string> = {}) =>
    translateCloudVolume(volumeOf(spec, { labels })).spec?.nodeAffinity;

  it.each(["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"])(
    "is by its driver's key: %s",
    (key) => {
      expect(translated({ ...aws, nodeAffinity: affinity(key, "a") })).toEqual(
        affinity("topology.ebs.csi.aws.com/zone", "a"),
      );
      expect(translated(aws, { [key]: "b__a" })).toEqual(affinity("topology.ebs.csi.aws.com/zone", "a", "b"));
    },
  );

  it("is told anew for a region that is named by its former label", () => {
    const [zone, region] = ["zone", "region"].map((name) => `failure-domain.beta.kubernetes.io/${name}`);
    const terms = [zone, region].map((key = "") => ({ key, operator: "In", values: ["x"] }));
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: terms }] } };
    const keys = translated({ ...aws, nodeAffinity })?.required?.nodeSelectorTerms[0]?.matchExpressions;
    expect(keys?.map(({ key }) => key)).toEqual(["topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/region"]);
  });

  it("is zone and region for vSphere", () => {
    const labels = { "topology.kubernetes.io/zone": "z__y", "topology.kubernetes.io/region": "r" };
    const found = translated({ vsphereVolume: { volumePath: "p" } }, labels);
    expect(found?.required?.nodeSelectorTerms[0]?.matchExpressions).toEqual([
      { key: "topology.csi.vmware.com/zone", operator: "In", values: ["z__y"] },
      { key: "topology.csi.vmware.com/region", operator: "In", values: ["r"] },
    ]);
  });

  it("is anywhere for what nobody has placed, and as it says for shares", () => {
    expect(translated(aws)).toBeUndefined();
    const nodeAffinity = affinity("topology.kubernetes.io/zone", "a");
    const azureFile = { secretName: "s", shareName: "sh", secretNamespace: "n" };
    expect(translated({ azureFile, nodeAffinity })).toEqual(nodeAffinity);
  });
});

describe("a volume that a pod names itself", () => {
  it.each<[Omit<Volume, "name">, string, string, string]>([
    [{ awsElasticBlockStore: { volumeID: "aws:///vol-1" } }, "ebs.csi.aws.com-vol-1", "vol-1", "ReadWriteOnce"],
    [{ azureDisk: { diskName: "d", diskURI: "/sub/d" } }, "/sub/d", "/sub/d", "ReadWriteOnce"],
    [{ azureFile: { secretName: "s", shareName: "sh" } }, "#s#sh#v#shop", "#s#sh#v#shop", "ReadWriteMany"],
    [{ cinder: { volumeID: "c" } }, "cinder.csi.openstack.org-c", "c", "ReadWriteOnce"],
    [
      { gcePersistentDisk: { pdName: "d", readOnly: true } },
      "pd.csi.storage.gke.io-d",
      "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d",
      "ReadOnlyMany",
    ],
    [{ portworxVolume: { volumeID: "p" } }, "pxd.portworx.com-p", "p", "ReadWriteOnce"],
    [{ vsphereVolume: { volumePath: "x" } }, "csi.vsphere.vmware.com-x", "x", "ReadWriteOnce"],
  ])("%j is called %s", (source, name, volumeHandle, accessMode) => {
    const volume = translateInlineVolume({ name: "v", ...source }, "shop");
    expect(volume?.metadata?.name).toBe(name);
    const accessModes = [accessMode];
    expect(volume?.spec).toMatchObject({ csi: { volumeHandle }, accessModes, volumeMode: "Filesystem" });
  });

  it("counts only where a driver serves it", () => {
    const volumes = [
      { name: "a", azureDisk: { diskName: "d", diskURI: "u", kind: "Shared" } },
      { name: "b", cinder: { volumeID: "c" } },
      { name: "e", emptyDir: {} },
    ];
    const pod = { spec: { containers: [], volumes } };
    expect(inlineDriverVolumes(pod).map((volume) => csiVolumeReference(volume)?.volumeHandle)).toEqual(["c"]);
  });
});

it("a storage class of a cloud makes volumes of its driver", () => {
  expect(driverOfProvisioner("kubernetes.io/gce-pd")).toBe("pd.csi.storage.gke.io");
  expect(driverOfProvisioner("example.com/p")).toBe("example.com/p");
});
