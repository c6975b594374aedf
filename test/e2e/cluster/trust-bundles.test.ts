import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCertificateAuthority } from "../../../src/pki/issue-certificate.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const SERVERS = await clusterServersUnderTest();

const BUNDLES = "/apis/certificates.k8s.io/v1beta1/clustertrustbundles";
/** An update reaches a pod by a watch, not by a timer. */
const UPDATE_TIMEOUT_MS = 2_000;
const WAITING = 'MountVolume.SetUp failed for volume "v" : ';

interface BundleParts {
  readonly signerName?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

function bundle(name: string, trustBundle: string, { signerName, labels }: BundleParts = {}): object {
  return {
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "ClusterTrustBundle",
    metadata: { name, ...(labels && { labels }) },
    spec: { ...(signerName !== undefined && { signerName }), trustBundle },
  };
}

/** The certificates of a text in an order of their own, and what there is besides them. */
function partsOf(pem: string): string[] {
  return pem
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .filter((part) => part !== "")
    .toSorted();
}

for (const server of SERVERS) {
  const title = `cluster trust bundles in pods, on ${server.name} (v1beta1 is served since 1.33)`;
  describe.skipIf(server.minor < 33)(title, () => {
    let world: ClusterNode;
    /** Certificates of authorities. */
    let a: string;
    let b: string;
    let c: string;
    beforeAll(async () => {
      const create = async (commonName: string) => {
        return (await createCertificateAuthority({ commonName, days: 1, now: Date.now() })).certificatePem;
      };
      [a, b, c] = [await create("a"), await create("b"), await create("c")];
      world = await createClusterNode({ server, servesTrustBundles: true });
      await world.node.start(world.flags);
    });
    afterAll(async () => await world?.destroy());

    /** A pod that has the certificates at /v/ca.pem. */
    const mounting = (name: string, projection: object, spec: object = {}): object => {
      const sources = [{ clusterTrustBundle: { path: "ca.pem", ...projection } }];
      const volumes = [{ name: "v", projected: { sources } }];
      const volumeMounts = [{ name: "v", mountPath: "/v" }];
      return shellPod(name, RUN_FOR_EVER, { volumes, ...spec }, { volumeMounts });
    };
    const run = async (name: string, projection: object, spec: object = {}): Promise<void> => {
      await world.create(mounting(name, projection, spec));
      await world.pod(name, isRunning);
    };
    const shown = async (name: string): Promise<string[]> => partsOf(await world.shell(name, "cat /v/ca.pem"));
    const shows = async (name: string, ...certificates: string[]): Promise<void> => {
      await settlesOn(certificates.toSorted(), async () => await shown(name), UPDATE_TIMEOUT_MS);
    };
    const remove = async (name: string) => await world.api.object("DELETE", `${BUNDLES}/${name}`);

    it.concurrent("are shown by their name, each certificate once and nothing else, and as they change", async () => {
      await world.cluster.apply(bundle("named", `Root a:\n${a}\n# and b\n${b}`));
      await run("by-name", { name: "named" });
      expect(await shown("by-name")).toEqual([a, b].toSorted());
      expect(await world.shell("by-name", "stat -L -c '%a %u:%g' /v/ca.pem")).toBe("644 0:0\n");
      await world.cluster.apply(bundle("named", c));
      await shows("by-name", c);
      const { status } = await world.pod("by-name", isRunning);
      expect(status?.containerStatuses?.[0]?.restartCount).toBe(0);
    });

    it.concurrent("are shown by signer and labels, all together, as they come and go", async () => {
      const signerName = "example.com/live";
      const [live, next] = [{ labels: { canary: "live" } }, { labels: { canary: "next" } }];
      await world.cluster.apply(
        bundle("example.com:live:1", a, { signerName, ...live }),
        bundle("example.com:live:2", a + b, { signerName, ...live }),
        bundle("example.com:live:3", c, { signerName, ...next }),
        bundle("example.com:other:1", c, { signerName: "example.com/other", ...live }),
      );
      await run("by-signer", { signerName, labelSelector: { matchLabels: { canary: "live" } } });
      await run("all-of-signer", { signerName, labelSelector: {} });
      expect(await shown("by-signer")).toEqual([a, b].toSorted());
      expect(await shown("all-of-signer")).toEqual([a, b, c].toSorted());
      await world.cluster.apply(bundle("example.com:live:3", c, { signerName, ...live }));
      await shows("by-signer", a, b, c);
      await world.cluster.apply(bundle("example.com:live:2", b, { signerName, ...next }));
      await shows("by-signer", a, c);
      await remove("example.com:live:1");
      await shows("by-signer", c);
      await shows("all-of-signer", b, c);
    });

    it.concurrent("of one name and of a signer stand beside each other", async () => {
      const signerName = "example.com/beside";
      await world.cluster.apply(bundle("beside", a), bundle("example.com:beside:1", b, { signerName }));
      const clusterTrustBundles = [
        { path: "named/ca.pem", name: "beside" },
        { path: "signer/ca.pem", signerName, labelSelector: {} },
      ];
      const sources = clusterTrustBundles.map((clusterTrustBundle) => ({ clusterTrustBundle }));
      await run("beside", {}, { volumes: [{ name: "v", projected: { sources } }] });
      expect(await world.shell("beside", "cat /v/named/ca.pem")).toBe(a);
      expect(await world.shell("beside", "cat /v/signer/ca.pem")).toBe(b);
    });

    it.concurrent.each([
      ["name", { name: "later" }, (pem: string) => bundle("later", pem)],
      [
        "signer",
        { signerName: "example.com/later", labelSelector: {} },
        (pem: string) => bundle("example.com:later:1", pem, { signerName: "example.com/later" }),
      ],
    ])(
      "that are optional may be missing, by %s: the file is empty until they are there",
      async (how, projection, make) => {
        const name = `optional-${how}`;
        await run(name, { ...projection, optional: true });
        expect(await world.shell(name, "wc -c < /v/ca.pem")).toBe("0\n");
        await world.cluster.apply(make(a));
        await shows(name, a);
      },
    );

    it.concurrent.each([
      [
        "name",
        { name: "missing" },
        'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "missing" not found',
        (pem: string) => bundle("missing", pem),
      ],
      [
        "signer",
        { signerName: "example.com/missing", labelSelector: {} },
        "combination of signerName and labelSelector matched zero ClusterTrustBundles",
        (pem: string) => bundle("example.com:missing:1", pem, { signerName: "example.com/missing" }),
      ],
    ])(
      "that are missing, by %s, keep their pod waiting, and it starts when they are there",
      async (how, projection, why, make) => {
        const name = `missing-${how}`;
        await world.create(mounting(name, projection));
        await world.event(name, { type: "Warning", reason: "FailedMount", message: `${WAITING}${why}` });
        const { status } = await world.pod(name, (pod) => (pod.status?.containerStatuses ?? []).length > 0);
        expect(status?.containerStatuses?.[0]?.state?.waiting?.reason).toBe("ContainerCreating");
        await world.cluster.apply(make(a));
        await world.pod(name, isRunning, 5_000);
        expect(await shown(name)).toEqual([a]);
      },
    );

    it.concurrent("are none where a signer comes without a selector", async () => {
      const signerName = "example.com/unselected";
      await world.cluster.apply(bundle("example.com:unselected:1", a, { signerName }));
      await world.create(mounting("unselected", { signerName }));
      const message = `${WAITING}combination of signerName and labelSelector matched zero ClusterTrustBundles`;
      await world.event("unselected", { type: "Warning", reason: "FailedMount", message });
      await world.remove("unselected");
      await world.gone("unselected");
    });

    it.concurrent("stay as they are when they are deleted under a running pod", async () => {
      await world.cluster.apply(bundle("doomed", a));
      await run("survivor", { name: "doomed" });
      await remove("doomed");
      const message = `${WAITING}while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "doomed" not found`;
      await world.event("survivor", { type: "Warning", reason: "FailedMount", message });
      expect(await shown("survivor")).toEqual([a]);
      expect((await world.read("survivor"))?.status?.phase).toBe("Running");
    });
  });
}
