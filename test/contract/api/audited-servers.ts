import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRecord } from "../../../src/api/object.ts";
import { silentLog } from "../../../src/base/log.ts";
import { openAudit } from "../../../src/cluster/control-plane/open-audit.ts";
import { serveControlPlane } from "../../../src/cluster/control-plane/serve-control-plane.ts";
import { systemClock } from "../../../src/host/linux/system/system-clock.ts";
import { createMemoryJournal } from "../../../src/journal/memory-journal.ts";
import { createCertificates } from "../../../src/testing/cluster-credentials.ts";
import { credentialsOf } from "./credentials-of.ts";
import { type ApiServerUnderTest, apiServersUnderTest } from "./harness.ts";
import { type StartedApiServer, startKubeApiserver } from "./kube-apiserver.ts";

/** An event as it stands in the log. */
export type AuditEvent = Readonly<Record<string, unknown>>;

/** A server that records requests. */
interface AuditedServer extends ApiServerUnderTest {
  /** What was recorded so far. */
  readEvents(): Promise<readonly AuditEvent[]>;
}

/** The servers under test, which record requests by the policy. */
export function auditedServers(policy: string): AuditedServer[] {
  return apiServersUnderTest().map((server) => {
    const place = { directory: "" };
    const start = async () => {
      place.directory = await mkdtemp(join(tmpdir(), "nodelet-audit-"));
      const [policyFile, path] = [join(place.directory, "policy.yaml"), join(place.directory, "log", "audit.log")];
      await writeFile(policyFile, policy);
      const started = await (server.isOurs ? startOurs : startUpstream)({ policyFile, path });
      const stop = async () => {
        await started.stop();
        await rm(place.directory, { recursive: true, force: true });
      };
      return { ...started, stop };
    };
    const readEvents = async () => {
      const text = await readFile(join(place.directory, "log", "audit.log"), "utf8");
      return text.split("\n").flatMap((line): AuditEvent[] => {
        const event: unknown = line === "" ? undefined : JSON.parse(line);
        return isRecord(event) ? [event] : [];
      });
    };
    return { ...server, start, readEvents };
  });
}

interface Files {
  readonly policyFile: string;
  readonly path: string;
}

async function startOurs(files: Files): Promise<StartedApiServer> {
  const [certificates, journal] = [await createCertificates(), createMemoryJournal()];
  const bounds = { maxAgeDays: 0, maxBackups: 0, maxBytes: 0, writeOutput() {} };
  const audit = await openAudit({ ...files, ...bounds }, { clock: systemClock, log: silentLog });
  const options = { address: "127.0.0.1", port: 0, serviceCidr: "10.96.0.0/16", version: "0.0.0" };
  const running = await serveControlPlane(options, { journal, certificates, audit, log: silentLog });
  await Promise.race([running.ready, running.ended]);
  return { admin: credentialsOf(running.kubeconfig), stop: async () => await running.close() };
}

async function startUpstream({ policyFile, path }: Files): Promise<StartedApiServer> {
  const flags = [`--audit-policy-file=${policyFile}`, `--audit-log-path=${path}`];
  return await startKubeApiserver(process.env["KUBEBUILDER_ASSETS"] ?? "", flags);
}
