import { expect, test } from "vitest";
import { pod } from "./__fixtures__/storage-bench.ts";
import { reportMultiAttach } from "./attach-events.ts";

const of = (namespace: string, name: string) => pod(name, { metadata: { namespace } });

test.each<[string, ReturnType<typeof pod>[], string]>([
  ["nobody", [], "Volume is already exclusively attached to one node and can't be attached to another"],
  ["neighbours", [of("default", "a"), of("default", "b")], "Volume is already used by pod(s) a, b"],
  ["strangers", [of("x", "a"), of("y", "b")], "Volume is already used by 2 pod(s) in different namespaces"],
  [
    "both",
    [of("default", "a"), of("y", "secret")],
    "Volume is already used by pod(s) a and 1 pod(s) in different namespaces",
  ],
])("names of pods are told within their namespace: %s", (_case, users, expected) => {
  const messages: string[] = [];
  const recorder = {
    record: ({ message }: { message: string }) => void messages.push(message),
    settled: () => Promise.resolve(),
  };
  reportMultiAttach(recorder, "v1", { waiting: [pod("me")], users });
  expect(messages).toEqual([`Multi-Attach error for volume "v1" ${expected}`]);
});
