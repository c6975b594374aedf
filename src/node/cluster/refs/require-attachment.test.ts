import { expect, it } from "vitest";
import { requireAttachment } from "./require-attachment.ts";

it("reads an attachment, and rejects for one that does not exist as the API server does", async () => {
  const attachment = { metadata: { name: "csi-1" }, spec: { attacher: "d", nodeName: "n", source: {} } };
  const attachments = { get: async (name: string) => (name === "csi-1" ? attachment : undefined) };
  const { signal } = new AbortController();
  expect(await requireAttachment(attachments, "csi-1", signal)).toBe(attachment);
  await expect(requireAttachment(attachments, "csi-2", signal)).rejects.toThrow(
    'volumeattachments.storage.k8s.io "csi-2" not found',
  );
});
