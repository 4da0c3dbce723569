import com.android.apksig.ApkVerifier;
import com.android.apksig.ApkVerifier.IssueWithParams;
import java.io.File;

/**
 * Verifies signatures of APKs as devices do, from Android 5 to the newest version that this verifier knows.
 * Arguments: the APKs.
 */
final class VerifyApk {
    private static final int ANDROID_5 = 21;

    private VerifyApk() {}

    public static void main(String[] arguments) throws Exception {
        for (String file : arguments) {
            ApkVerifier.Result result =
                    new ApkVerifier.Builder(new File(file)).setMinCheckedPlatformVersion(ANDROID_5).build().verify();
            for (IssueWithParams error : result.getAllErrors()) {
                System.err.println(file + ": " + error);
            }
            if (!result.isVerified() || !result.isVerifiedUsingV2Scheme()) {
                throw new SecurityException(file + " is not verified");
            }
        }
    }
}
