/** `k8s` and a zero byte: what every object in protobuf begins with. */
export const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** The media type of objects in protobuf. */
export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
