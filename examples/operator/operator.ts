import { isDeepStrictEqual } from "node:util";
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  type KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
} from "@kubernetes/client-node";
import { computeStatus, desiredObjects, MANAGED_BY } from "./desired-state.ts";
import { FINALIZER, WEBSITE_KIND, WEBSITES, type Website, type WebsiteStatus } from "./website.ts";
import { createWorkQueue } from "./work-queue.ts";

/** The world outside the cluster, which owner references do not reach: the reason for the finalizer. */
export interface HostNames {
  /** Makes the name lead here. Idempotent. */
  announce(host: string): Promise<void>;
  /** Takes the name back. Idempotent. */
  withdraw(host: string): Promise<void>;
}

export interface OperatorDeps {
  config: KubeConfig;
  hostNames: HostNames;
  /** Is told of every failure; what failed is tried again. */
  onError(what: string, error: unknown): void;
}

export interface Operator {
  /** Resolves when it does nothing any more. */
  stop(): Promise<void>;
}

const FIELD_MANAGER = "website-operator";
const RECONNECT_MS = 1_000;

/** Runs until it is stopped: looks at a website whenever it, or something that it owns, changes. */
export async function startOperator(deps: OperatorDeps): Promise<Operator> {
  const { config, onError } = deps;
  const [core, apps, custom] = [
    config.makeApiClient(CoreV1Api),
    config.makeApiClient(AppsV1Api),
    config.makeApiClient(CustomObjectsApi),
  ];
  const { group, version, plural } = WEBSITES;
  const labelSelector = Object.entries(MANAGED_BY).flat().join("=");
  const listWebsites = (): Promise<KubernetesListObject<Website>> => custom.listClusterCustomObject(WEBSITES);
  const websites = makeInformer(config, `/apis/${group}/${version}/${plural}`, listWebsites);
  const servers = makeInformer(
    config,
    "/apis/apps/v1/deployments",
    () => apps.listDeploymentForAllNamespaces({ labelSelector }),
    labelSelector,
  );
  const contents = makeInformer(
    config,
    "/api/v1/configmaps",
    () => core.listConfigMapForAllNamespaces({ labelSelector }),
    labelSelector,
  );

  const queue = createWorkQueue(
    async (key) => {
      const [namespace = "", name = ""] = key.split("/");
      const website = websites.get(name, namespace);
      if (website !== undefined) await reconcile(deps, website);
    },
    (key, error) => {
      // What is known here is a moment old: that somebody was faster is no failure, and the next look sees it.
      if (!isOutdated(error)) onError(`website ${key}`, error);
    },
  );
  const addOwner = ({ metadata }: KubernetesObject) => {
    const owner = metadata?.ownerReferences?.find(({ kind, controller }) => controller && kind === WEBSITE_KIND.kind);
    if (owner) queue.add(`${metadata?.namespace}/${owner.name}`);
  };
  const followed = [
    follow(websites, ({ metadata }) => queue.add(`${metadata.namespace}/${metadata.name}`), onError),
    follow(servers, addOwner, onError),
    follow(contents, addOwner, onError),
  ];
  await Promise.all(followed.map(({ started }) => started));
  return {
    async stop() {
      await Promise.all(followed.map(({ stop }) => stop()));
      await queue.stop();
    },
  };
}

const isOutdated = (error: unknown) => error instanceof ApiException && (error.code === 404 || error.code === 409);

/** An informer ends when its connection breaks: this one starts again, and goes on where it was. */
function follow<Kind extends KubernetesObject>(
  informer: Informer<Kind>,
  onChange: (object: Kind) => void,
  onError: OperatorDeps["onError"],
) {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  informer.on("change", onChange);
  informer.on("error", (error) => {
    if (isStopped) return;
    onError("watching", error);
    timer = setTimeout(() => void informer.start(), RECONNECT_MS);
  });
  return {
    started: informer.start(),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await informer.stop();
    },
  };
}

/**
 * Brings the world closer to what the website says. May be called at any time and any number of times: it looks at what
 * is, not at what happened. Throws where it cannot go on; then it is called again.
 */
async function reconcile(deps: OperatorDeps, website: Website): Promise<void> {
  const { metadata, spec, status } = website;
  const finalizers = metadata.finalizers ?? [];
  const hasFinalizer = finalizers.includes(FINALIZER);
  if (metadata.deletionTimestamp !== undefined) {
    if (!hasFinalizer) return;
    for (const host of new Set([spec.host, status?.host ?? spec.host])) await deps.hostNames.withdraw(host);
    await setFinalizers(
      deps,
      website,
      finalizers.filter((finalizer) => finalizer !== FINALIZER),
    );
    return;
  }
  if (!hasFinalizer) {
    // Before anything is announced, and nothing else now: the change comes back as an event.
    await setFinalizers(deps, website, [...finalizers, FINALIZER]);
    return;
  }
  await deps.hostNames.announce(spec.host);
  if (status !== undefined && status.host !== spec.host) await deps.hostNames.withdraw(status.host);
  const [content, server] = desiredObjects(website);
  await apply(deps, content);
  const next = computeStatus(website, await apply(deps, server), new Date());
  if (!isDeepStrictEqual(next, status)) await applyStatus(deps, website, next);
}

/** Creates the object, or sets what it says and leaves the rest to others. */
async function apply<Kind extends KubernetesObject>({ config }: OperatorDeps, object: Kind): Promise<Kind> {
  const objects = KubernetesObjectApi.makeApiClient(config);
  return objects.patch(object, undefined, undefined, FIELD_MANAGER, true, PatchStrategy.ServerSideApply);
}

async function applyStatus({ config }: OperatorDeps, { metadata }: Website, status: WebsiteStatus): Promise<void> {
  const { name, namespace } = metadata;
  await config.makeApiClient(CustomObjectsApi).patchNamespacedCustomObjectStatus(
    {
      ...WEBSITES,
      name,
      namespace,
      fieldManager: FIELD_MANAGER,
      force: true,
      body: { ...WEBSITE_KIND, metadata: { name, namespace }, status },
    },
    setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply),
  );
}

/**
 * A merge patch with the version that was seen: a conflict, and so another look, where somebody was faster. Not an
 * apply, which would bring back a website that is gone.
 */
async function setFinalizers({ config }: OperatorDeps, { metadata }: Website, finalizers: string[]): Promise<void> {
  const { name, namespace, resourceVersion } = metadata;
  await config
    .makeApiClient(CustomObjectsApi)
    .patchNamespacedCustomObject(
      { ...WEBSITES, name, namespace, body: { metadata: { resourceVersion, finalizers } } },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
}
