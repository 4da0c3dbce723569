import com.android.tools.profgen.ArtProfile;
import com.android.tools.profgen.ArtProfileKt;
import com.android.tools.profgen.ArtProfileSerializer;
import com.android.tools.profgen.DexFile;
import com.android.tools.profgen.DexFileParserKt;
import com.android.tools.profgen.HumanReadableProfile;
import com.android.tools.profgen.HumanReadableProfileKt;
import com.android.tools.profgen.ObfuscationMap;
import com.android.tools.profgen.ObfuscationMapKt;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Compiles the rules of a baseline profile for the dex files of an app, as the Android Gradle plug-in does,
 * and prints what the compiled file contains. Arguments: the rules, R8's mapping, the output paths of the
 * profile and of its metadata, the dex files.
 */
final class CompileProfile {
    private static final int DEX_FILES_FROM = 4;

    private CompileProfile() {}

    public static void main(String[] arguments) throws IOException {
        HumanReadableProfile rules =
                HumanReadableProfileKt.HumanReadableProfile(new File(arguments[0]), CompileProfile::refuse);
        ObfuscationMap mapping = ObfuscationMapKt.ObfuscationMap(new File(arguments[1]));
        List<DexFile> files = new ArrayList<>();
        for (int at = DEX_FILES_FROM; at < arguments.length; at++) {
            try (InputStream dex = new FileInputStream(arguments[at])) {
                files.addAll(DexFileParserKt.parseDexFiles(dex, at - DEX_FILES_FROM));
            }
        }
        ArtProfile profile = ArtProfileKt.ArtProfile(rules, mapping, files, "");
        ArtProfileKt.save(profile, new File(arguments[2]), ArtProfileSerializer.V0_1_0_P);
        ArtProfileKt.save(profile, new File(arguments[3]), ArtProfileSerializer.METADATA_0_0_2);
        profile.print(System.out, mapping);
    }

    private static void refuse(String error) {
        throw new IllegalArgumentException(error);
    }
}
