package android.content.pm;

/** Only the fields that the recorder reads. */
public class PackageInfo {
    public String versionName;
    public int versionCode;
}
