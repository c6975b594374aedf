import { readAs } from "../../../kube/http/read-object.ts";
import type { KubeClient } from "../../../kube/port.ts";

/** Creates a fake API server for reviews. Each review waits until the test answers it with a status or an error. */
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
            status instanceof Error
              ? reject(status)
              : resolve((async () => readAs(resource, { ...Object(object), status }, () => "a lie"))()),
        });
      }),
  };
  return {
    client,
    asked,
    /** Answers the review that was asked last. */
    answer(status: object | Error): void {
      const last = asked.at(-1);
      if (last === undefined) throw new Error("nothing was asked");
      last.answer(status);
    },
  };
}
