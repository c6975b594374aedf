import type { V1ConfigMap, V1Deployment } from "@kubernetes/client-node";
import { type Condition, WEBSITE_KIND, type Website, type WebsiteStatus } from "./website.ts";

/** By this label the operator finds what it made. */
export const MANAGED_BY = { "app.kubernetes.io/managed-by": "website-operator" };

/** What a website consists of: its page, and the server that shows it. Computes and does nothing else. */
export function desiredObjects({ metadata, spec }: Website): [V1ConfigMap, V1Deployment] {
  const { name, namespace, uid } = metadata;
  const selector = { "app.kubernetes.io/name": "website", "app.kubernetes.io/instance": name };
  const labels = { ...selector, ...MANAGED_BY };
  const owner = { ...WEBSITE_KIND, name, uid, controller: true, blockOwnerDeletion: true };
  const own = { namespace, labels, ownerReferences: [owner] };
  const content: V1ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...own, name: `${name}-content` },
    data: { "index.html": spec.html },
  };
  const server: V1Deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...own, name },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "server",
              image: "nginx:1.29",
              ports: [{ name: "http", containerPort: 80 }],
              volumeMounts: [{ name: "content", mountPath: "/usr/share/nginx/html", readOnly: true }],
            },
          ],
          volumes: [{ name: "content", configMap: { name: `${name}-content` } }],
        },
      },
    },
  };
  return [content, server];
}

/** What to tell of a website whose server is as given. Equal to the present status where nothing changed. */
export function computeStatus(website: Website, server: V1Deployment, now: Date): WebsiteStatus {
  const { spec, status } = website;
  const generation = website.metadata.generation ?? 0;
  const available = server.status?.availableReplicas ?? 0;
  const isReady = available >= spec.replicas;
  const present = status?.conditions.find(({ type }) => type === "Ready");
  const ready: Condition = {
    type: "Ready",
    status: isReady ? "True" : "False",
    reason: isReady ? "Serving" : "Starting",
    message: `${available} of ${spec.replicas} servers are available`,
    observedGeneration: generation,
    lastTransitionTime: now.toISOString().replace(/\.\d+Z$/, "Z"),
  };
  // The time is that of the last change between True and False, not of the last look.
  if (present?.status === ready.status) ready.lastTransitionTime = present.lastTransitionTime;
  return { observedGeneration: generation, host: spec.host, conditions: [ready] };
}
