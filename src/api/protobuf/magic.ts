/** `k8s` and a zero byte: every object in protobuf begins with them. */
export const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** The media type of objects in protobuf. */
export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
