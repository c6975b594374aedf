import { isProxyable } from "../node-proxy/reachable-address.ts";
import type { AdmissionPlugin, Authorize } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { KindTable } from "../registry/kind-table.ts";
import { viewsOf } from "../registry/kind-table.ts";
import { createWebhookAdmission } from "../webhooks/webhook-admission.ts";
import { createWebhookClient } from "../webhooks/webhook-client.ts";
import { createWebhooks } from "../webhooks/webhook-configurations.ts";
import { createWebhookMetrics } from "../webhooks/webhook-metrics.ts";
import type { ControlPlaneDeps } from "./control-plane-ports.ts";

interface WebhookParts extends Pick<ControlPlaneDeps, "webhooks" | "nodes" | "random" | "clock" | "metrics"> {
  readonly reader: ResourceReader;
  readonly kinds: KindTable;
  readonly authorize: Authorize;
}

/** The plugin that asks admission webhooks, with its client. */
export function composeWebhooks({
  reader,
  kinds,
  authorize,
  clock,
  random,
  metrics,
  ...world
}: WebhookParts): AdmissionPlugin {
  const { resolveHost } = world.nodes;
  const call = createWebhookClient({
    ...world.webhooks,
    resolveHost,
    reader,
    clock,
    random: random.number,
    mayReach: isProxyable,
  });
  return createWebhookAdmission({
    call,
    clock,
    metrics: createWebhookMetrics(metrics),
    newUid: random.uuid,
    webhooks: createWebhooks(reader),
    reader,
    authorize,
    viewsOf: (kind) => viewsOf(kinds, kind),
  });
}
