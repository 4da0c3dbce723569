// The functions of 7-Zip's library that Debian's Android libraries link. Unpacking reports an error; packing
// reports success with nothing packed.
int Crc64GenerateTable(void) { return 0; }
int CrcGenerateTable(void) { return 0; }
int Lzma2EncProps_Init(void) { return 0; }
int Lzma2EncProps_Normalize(void) { return 0; }
int XzProps_Init(void) { return 0; }
int Xz_Encode(void) { return 0; }
int XzUnpacker_Code(void) { return 1; }
int XzUnpacker_Construct(void) { return 0; }
int XzUnpacker_Free(void) { return 0; }
int XzUnpacker_IsStreamWasFinished(void) { return 0; }
int XzUnpacker_PrepareToRandomBlockDecoding(void) { return 0; }
int XzUnpacker_SetOutBuf(void) { return 0; }
int Xzs_Construct(void) { return 0; }
int Xzs_Free(void) { return 0; }
int Xzs_GetNumBlocks(void) { return 0; }
int Xzs_ReadBackward(void) { return 1; }
