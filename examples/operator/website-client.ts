import {
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  type V1Deployment,
} from "@kubernetes/client-node";
import { until } from "./until.ts";
import { WEBSITE_KIND, WEBSITES, type Website } from "./website.ts";

type Spec = Omit<Website["spec"], "replicas"> & { replicas?: number };

/** What the tests do with websites, as a user of the cluster would. */
export function createWebsiteClient(config: KubeConfig) {
  const [core, apps, custom] = [
    config.makeApiClient(CoreV1Api),
    config.makeApiClient(AppsV1Api),
    config.makeApiClient(CustomObjectsApi),
  ];
  const namespace = "default";
  return {
    create: async (name: string, spec: Spec) => {
      const body = { ...WEBSITE_KIND, metadata: { name }, spec };
      await custom.createNamespacedCustomObject({ ...WEBSITES, namespace, body });
    },
    change: async (name: string, spec: Partial<Spec>) => {
      const mergePatch = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
      await custom.patchNamespacedCustomObject({ ...WEBSITES, namespace, name, body: { spec } }, mergePatch);
    },
    read: async (name: string): Promise<Website> => custom.getNamespacedCustomObject({ ...WEBSITES, namespace, name }),
    remove: async (name: string) => {
      await custom.deleteNamespacedCustomObject({ ...WEBSITES, namespace, name });
    },
    readContent: (name: string) => core.readNamespacedConfigMap({ namespace, name: `${name}-content` }),
    removeContent: (name: string) => core.deleteNamespacedConfigMap({ namespace, name: `${name}-content` }),
    readServer: (name: string) => apps.readNamespacedDeployment({ namespace, name }),
    /** Plays the node, which this cluster does not have: the server's pods run, and are ready. */
    makeAvailable: async ({ spec }: V1Deployment) => {
      const labels = Object.entries(spec?.selector.matchLabels ?? {});
      const labelSelector = labels.map(([label, value]) => `${label}=${value}`).join();
      const pods = await until(async () => {
        const { items } = await core.listNamespacedPod({ namespace, labelSelector });
        if (items.length !== spec?.replicas) throw new Error(`${items.length} of ${spec?.replicas} pods are there`);
        return items;
      });
      const lastTransitionTime = new Date().toISOString();
      const status = { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime }] };
      const mergePatch = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
      for (const { metadata } of pods) {
        const name = metadata?.name ?? "";
        await core.patchNamespacedPodStatus({ namespace, name, body: { status } }, mergePatch);
      }
    },
  };
}
