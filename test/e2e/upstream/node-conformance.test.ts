import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startKubeApiserverCluster } from "../../clusters/kube-apiserver-cluster.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";
import { findProgram } from "../../contract/api/server-processes.ts";
import { claimPort } from "../../machine/claims.ts";
import { type ClusterNode, createNodeOf, NODE_NAME } from "../cluster/cluster-node.ts";
import { runTestBinary } from "./run-test-binary.ts";

/** What Kubernetes' authors run on a node: the test binary (`go test -c`) of its `test/e2e_node`. */
const binary = process.env["E2E_NODE_TEST_BIN"] ?? "";
/** Archives of the images that its pods use, by the names that it has for them, with `:` between them. */
const archives = (process.env["E2E_NODE_IMAGES"] ?? "").split(":").filter((path) => path !== "");
/** The directory of kube-apiserver and etcd. The suite's namespaces enforce pod security levels, which our server refuses. */
const assets = process.env["KUBEBUILDER_ASSETS"] ?? "";
const isThere = binary !== "" && archives.length > 0 && assets !== "";
const title = "upstream's node conformance tests";
/** What every node has to do, and no node is the worse for. */
const LABELS = "NodeConformance && Conformance && !Serial && !Slow && !Disruptive";
/** More of what is not to run here, for images that are not at hand: a regular expression. */
const skipped = process.env["E2E_NODE_SKIP"] ?? "";
/** They run at the same time, on one node: most of a probe's test is waiting. */
const PROBES = "Probing";
const STORAGE = "\\[sig-storage\\]";
const GROUPS = [
  { name: "of probes", focus: PROBES, skip: "" },
  { name: "of volumes", focus: STORAGE, skip: "" },
  { name: "of everything else", focus: "", skip: `${PROBES}|${STORAGE}` },
];
const TIMEOUT_MS = 2_400_000;
/** As the suite has the server that it starts itself: pods wait for no service account, and names of nodes lead nowhere. */
const SERVER_FLAGS = ["--disable-admission-plugins=ServiceAccount", "--kubelet-preferred-address-types=InternalIP"];
/** Enough of the end to see which specs failed, and why the last one did. */
const TOLD_CHARACTERS = 20_000;
const ACCOUNT = { name: "e2e-node", namespace: "default" };
/** The machine is not what is looked at. */
const SYSTEM_SPEC = "os: Linux\nkernelSpec:\n  versions: ['.*']\n";

describe.skipIf(!isThere)(
  isThere ? title : `${title} (skipped: E2E_NODE_TEST_BIN, E2E_NODE_IMAGES and KUBEBUILDER_ASSETS do not name them)`,
  () => {
    let world: ClusterNode;
    let token: string;
    beforeAll(async () => {
      const controllersProgram = await findProgram(assets, "kube-controller-manager");
      const cluster = await startKubeApiserverCluster({ assets, controllersProgram, flags: SERVER_FLAGS });
      world = await createNodeOf(cluster, { configuration: { enableServer: true } });
      for (const archive of archives) await world.node.containerd.importImage(archive);
      token = await createAdministrator(world);
      const authority = join(world.node.directory, "client-ca.crt");
      await writeFile(authority, credentialsOf(cluster.kubeconfig).caPem);
      const port = await claimPort();
      await world.node.start([...world.flags, `--port=${port}`, `--client-ca-file=${authority}`]);
    });
    afterAll(async () => await world?.destroy());

    it.concurrent.each(GROUPS)(
      "$name pass",
      async ({ name, focus, skip }) => {
        const directory = join(world.node.directory, name.replaceAll(" ", "-"));
        await mkdir(directory);
        const { code, output } = await runSuite({ world, token, directory, focus, skip });
        expect(code, output.slice(-TOLD_CHARACTERS)).toBe(0);
        expect(output, "no spec was run").toMatch(/^Ran [1-9]\d* of \d+ Specs/m);
      },
      TIMEOUT_MS,
    );
  },
);

/** A service account that may do everything, and its token: the suite knows no other credentials. */
async function createAdministrator({ api, cluster }: ClusterNode): Promise<string> {
  const { name, namespace } = ACCOUNT;
  const group = "rbac.authorization.k8s.io";
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await api.object("POST", accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
  await api.object("POST", `/apis/${group}/v1/clusterrolebindings`, {
    apiVersion: `${group}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", ...ACCOUNT }],
  });
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 14_400 } };
  const answer: { status?: { token?: string } } = Object(
    await api.object("POST", `${accounts}/${name}/token`, request),
  );
  const token = answer.status?.token;
  if (token === undefined) throw new Error(`${cluster.url} gave no token`);
  return token;
}

interface SuiteRun {
  readonly world: ClusterNode;
  readonly token: string;
  readonly directory: string;
  /** Regular expressions of the specs' names; none where empty. */
  readonly focus: string;
  readonly skip: string;
}

async function runSuite({ world, token, directory, focus, skip }: SuiteRun) {
  const spec = join(directory, "system.yaml");
  await writeFile(spec, SYSTEM_SPEC);
  const skips = [skip, skipped].filter((expression) => expression !== "").join("|");
  const args = [
    `--test.timeout=${TIMEOUT_MS}ms`,
    `--ginkgo.timeout=${TIMEOUT_MS}ms`,
    "--ginkgo.no-color",
    `--ginkgo.label-filter=${LABELS}`,
    ...(focus === "" ? [] : [`--ginkgo.focus=${focus}`]),
    ...(skips === "" ? [] : [`--ginkgo.skip=${skips}`]),
    "--start-services=false",
    "--prepull-images=false",
    `--system-spec-file=${spec}`,
    `--host=${world.cluster.url}`,
    `--bearer-token=${token}`,
    `--node-name=${NODE_NAME}`,
    `--container-runtime-endpoint=${world.node.containerd.endpoint}`,
    `--report-dir=${directory}`,
  ];
  const { NODE_EXTRA_CA_CERTS: _, KUBECONFIG: __, ...env } = process.env;
  return await runTestBinary(await realpath(binary), args, { cwd: directory, env });
}
