import type { KubeClient } from "../../../kube/port.ts";

/** An API server that is asked for reviews: each waits for its answer, the status or an error. */
export function createFakeReviews() {
  const asked: Array<{ spec: unknown; signal: AbortSignal | undefined; answer(status: object | Error): void }> = [];
  const client: Pick<KubeClient, "create"> = {
    create: async (resource, object, options) =>
      await new Promise((resolve, reject) => {
        const { spec } = Object(object);
        asked.push({
          spec,
          signal: options?.signal,
          answer: (status) =>
            status instanceof Error ? reject(status) : resolve(resource.read({ ...Object(object), status })),
        });
      }),
  };
  return {
    client,
    asked,
    /** Answers the one that was asked last. */
    answer(status: object | Error): void {
      const last = asked.at(-1);
      if (last === undefined) throw new Error("nothing was asked");
      last.answer(status);
    },
  };
}
